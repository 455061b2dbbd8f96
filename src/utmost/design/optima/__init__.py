"""Find the mechanism or remap with the least expected loss for a consumer, with a certificate that proves a bound."""
