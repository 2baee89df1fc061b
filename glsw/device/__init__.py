"""OpenGL devices: contexts, shaders and compiled programs."""
