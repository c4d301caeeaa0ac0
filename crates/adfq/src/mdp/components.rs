//! The strongly connected components of a graph: states that lead to each other in a circle.

/// The components of a graph with `n` states, each after all those it leads to (Tarjan 1972, with an explicit stack).
/// `successor(s, i)` is the i-th state that state s leads to.
pub(super) fn components(n: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut found = Vec::new();
    // When a state was first seen, and the earliest state on the stack that it is known to reach.
    let (mut order, mut low, mut seen) = (vec![NEW; n], vec![NEW; n], 0);
    let (mut stack, mut on_stack) = (Vec::new(), vec![false; n]);
    for root in 0..n {
        let mut path = if order[root] == NEW { vec![(root, 0)] } else { vec![] };
        while let Some((state, edge)) = path.pop() {
            if edge == 0 {
                (order[state], low[state]) = (seen, seen);
                seen += 1;
                stack.push(state);
                on_stack[state] = true;
            } else if let Some(child) = successor(state, edge - 1) {
                // Back from the successor before this edge.
                if on_stack[child] {
                    low[state] = low[state].min(low[child]);
                }
            }
            if let Some(next) = successor(state, edge) {
                path.push((state, edge + 1));
                if order[next] == NEW {
                    path.push((next, 0));
                }
            } else if low[state] == order[state] {
                let size = stack.iter().rev().take_while(|&&member| member != state).count() + 1;
                let component = stack[stack.len() - size..].to_vec();
                stack.truncate(stack.len() - size);
                component.iter().for_each(|&member| on_stack[member] = false);
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 ⇄ 1 → 2 ⟲, and 3 → 0: three components, the one that is never left first.
    #[test]
    fn components_come_after_those_they_lead_to() {
        let edges: [&[usize]; 4] = [&[1], &[0, 2], &[2], &[0]];
        let found = components(4, |state, edge| edges[state].get(edge).copied());
        assert_eq!(found, [vec![2], vec![0, 1], vec![3]]);
    }
}
