"""What tests of several rooms take from below the faces of rooms: who renames one of these files changes this one.

Each is looked up when it is asked for, so that a test without the service needs no server.
"""

from importlib import import_module

_PARTS = {
    "doors.cli.main": "COMMANDS app command_named in_words main",
    "doors.service.app": "application",
    "doors.service.settings": "Settings",
    "doors.service.terms": "Terms",
    "doors.testing.strategies": "alphas any_losses channels levels metrics priors private_channels refined_pairs sizes",
    "laws.noise.costs": "absolute cost_named moment read_cost squared tabled",
    "laws.sampling.random_bits": "SYSTEM KeyedRandomness Keystream SystemRandomness entropy source",
    "publish.promises.sum_noise": "SumNoise noise_laws strategy_text sum_noise",
    "publish.statements.counted_files": "COUNTED_FORM read_domain",
    "publish.workloads.blocks": "Blocks precision relative_precision",
    "publish.workloads.forms": "ProductForm group_of selected",
}
_FILES = {name: file for file, names in _PARTS.items() for name in names.split()}


def __getattr__(name):
    if name not in _FILES:
        raise AttributeError(name)
    return getattr(import_module(f"utmost.{_FILES[name]}"), name)
