// The seed of a pixel.
int seed() { return (int(gl_FragCoord.x) + int(gl_FragCoord.y) * 8) & 63; }
