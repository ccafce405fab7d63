"""The rasteriser: surfaces, camera and light in, an image out."""
