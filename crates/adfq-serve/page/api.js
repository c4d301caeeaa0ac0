// The server's JSON. An error has the words of the server.

async function answer(response) {
  if (response.ok) return response;
  let said = response.statusText;
  try {
    said = (await response.json()).error ?? said;
  } catch {
    // Not every error is JSON.
  }
  throw new Error(said);
}

export async function get(path) {
  return (await answer(await fetch(path))).json();
}

export async function post(path, body, signal) {
  return (await send(path, body, signal)).json();
}

export async function postForText(path, body) {
  return (await send(path, body)).text();
}

async function send(path, body, signal) {
  return answer(await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  }));
}
