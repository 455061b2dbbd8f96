"""One profile for every property: a busy machine is no failure of a theorem, and sixty cases of each keep it quick."""

from hypothesis import settings

settings.register_profile("utmost", deadline=None, max_examples=60)
settings.load_profile("utmost")
