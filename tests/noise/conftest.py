from hypothesis import settings

# A busy machine is no failure of a law, and thirty cases of each keep the suite quick.
settings.register_profile("laws", deadline=None, max_examples=30)
settings.load_profile("laws")
