"""What is imported because somebody named it: the modules of environments, and wrappers.

A name that a user types may import anything. A name from a run folder may be a stranger's (`modules` is "installed" then):
its module has to be an installed package, and what it wraps with has to be a wrapper of Gymnasium.
"""

import ast
import difflib
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import site
import sysconfig


# --- Modules ---------------------------------------------------------------------------------------------------------


def allow_module(spec, module, by):
    """Lets Python import a module, or refuses it without importing anything. `by` is the wrapper that asks for it, if
    it is not the environment."""
    if not all(part.isidentifier() for part in module.split(".")):
        raise refused(by, f"{module!r} is not the name of a Python module")
    package = module.split(".")[0]
    found = places_of(package)
    if spec["modules"] == "installed":
        folders = [*installed_packages(), *spec["path"]]
        if not found or not all(within(place, folders) for place in found):
            file = (found or places_of(package, [os.getcwd()]) or [None])[0]
            raise Refused("untrusted", module=module, file=file, by=by)
    elif not found:
        # Last, so that nothing there is taken for an installed package.
        sys.path.append(os.getcwd())


def refused(wrapper, reason):
    """The environment, or the wrapper if there is one, cannot be made."""
    return Refused("wrapper", wrapper=wrapper, reason=reason) if wrapper else Refused("id", reason=reason)


def places_of(package, path=None):
    """The file of a package, or the folders of one without; none if it is not found. Nothing is imported."""
    find = importlib.util.find_spec if path is None else importlib.machinery.PathFinder.find_spec
    try:
        spec = find(package) if path is None else find(package, path)
    except ValueError:  # A module that was not found by a search, such as __main__.
        spec = None
    if spec is None:
        return []
    return [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])


def installed_packages():
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return folders + getattr(site, "getsitepackages", list)()


def within(place, folders):
    place = os.path.realpath(place)
    return any(place.startswith(os.path.realpath(folder) + os.sep) for folder in folders)


# --- Wrappers --------------------------------------------------------------------------------------------------------


class Wrapper:
    """A wrapper by its name, with its arguments: `FlattenObservation`, `TimeLimit(max_episode_steps=100)`, and by import
    path `my_module:MyWrapper` or `my_package.my_module.MyWrapper`."""

    def __init__(self, gymnasium, spec, text):
        self.text, self.spec = text, spec
        name, parenthesis, rest = text.strip().partition("(")
        self.name = name.strip()
        self.arguments, self.keywords = self.literals("f(" + rest) if parenthesis else ([], {})
        self.make = self.find(gymnasium)
        if spec["modules"] == "installed":
            self.check_stranger(gymnasium)
        if not callable(self.make):
            raise self.refused(f"it is no class and no function: {shown(self.make)}")

    def refused(self, reason):
        return Refused("wrapper", wrapper=self.text, reason=reason)

    def literals(self, call):
        """The arguments of a call. They are read and never run: numbers, strings, tuples, lists, dictionaries, ..."""
        try:
            call = ast.parse(call, mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                raise ValueError
            if any(keyword.arg is None for keyword in call.keywords):
                raise ValueError
            arguments = [ast.literal_eval(argument) for argument in call.args]
            return arguments, {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            reason = "its arguments cannot be read: write them as in TimeLimit(max_episode_steps=100), with plain values"
            raise self.refused(reason) from None

    def find(self, gymnasium):
        """What the name stands for. A bare one is looked for among Gymnasium's wrappers."""
        name = self.name
        module, _, path = name.partition(":") if ":" in name else name.rpartition(".")
        if not all(part.isidentifier() for part in path.split(".")):
            raise self.refused("write it as NAME or MODULE:NAME, with its arguments in parentheses")
        if name == path:
            module = "gymnasium.wrappers"
        else:
            allow_module(self.spec, module, by=self.text)
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise self.refused(one_line(error)) from error
        try:
            return functools.reduce(getattr, path.split("."), found)
        except AttributeError:
            raise self.refused(self.unknown(gymnasium, module, found, path)) from None

    def unknown(self, gymnasium, module, found, path):
        names = [name for name in dir(found) if is_wrapper(gymnasium, getattr(found, name, None))]
        if module == "gymnasium.wrappers":
            names = [name for name in found.__all__ if name != "vector"]
        by_small = {name.lower(): name for name in names}
        near = [path.lower()] if path.lower() in by_small else difflib.get_close_matches(path.lower(), by_small)
        near = [by_small[small] for small in near]
        known = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names) or 'no wrappers'}"
        return f"{module} has no {path}; {known}"

    def check_stranger(self, gymnasium):
        """Any function of an installed package could be called otherwise."""
        record = getattr(gymnasium.wrappers, "RecordVideo", ())
        if not is_wrapper(gymnasium, self.make):
            raise Refused("stranger", wrapper=self.text, reason="is not a subclass of gymnasium.Wrapper")
        if record and issubclass(self.make, record):
            raise Refused("stranger", wrapper=self.text, reason="writes files where it is told to")

    def around(self, env):
        """The environment in this wrapper."""
        try:
            signature = inspect.signature(self.make)
        except (TypeError, ValueError):  # What is written in C may have none.
            signature = None
        try:
            if signature:
                signature.bind(env, *self.arguments, **self.keywords)
        except TypeError as error:
            raise self.refused(f"{error}; it takes {one_line(signature)}") from None
        try:
            wrapped = self.make(env, *self.arguments, **self.keywords)
        except Exception as error:
            # Gymnasium's own wrappers say what they need. Of others it helps to see where it went wrong.
            is_own = str(getattr(self.make, "__module__", "")).startswith("gymnasium.")
            reason = f"it raised {type(error).__name__}: {one_line(error)}"
            raise self.refused(reason if is_own else f"{reason}\n{traceback.format_exc()}") from error
        if not all(hasattr(wrapped, name) for name in ["reset", "step", "observation_space", "action_space"]):
            raise self.refused(f"it gave no environment but {shown(wrapped)}")
        return wrapped


def is_wrapper(gymnasium, found):
    return isinstance(found, type) and issubclass(found, gymnasium.Wrapper)
