"""Steps of many scenes of one structure in the same launches of a device."""
