#version 330
// The scores of a dot plot in a window: the tile of each pixel, in the colours of colours.py.
uniform isampler2D plus;
uniform isampler2D minus;
uniform ivec2 shown;      // whether plus and minus are
uniform vec2 scale;       // the scores that are white and of full colour
uniform vec3 inks[2];
uniform float height;     // of the window
uniform vec2 origin;      // of a block of tiles in the window, from the upper left corner
uniform float tile_size;  // in pixels
uniform ivec2 first;      // column and row of the block's first tile
out vec4 colour;

float depth(int score) {
    return sqrt(clamp((float(score) - scale.x) / (scale.y - scale.x), 0.0, 1.0));
}

void main() {
    vec2 place = vec2(gl_FragCoord.x, height - gl_FragCoord.y) - origin;
    ivec2 tile = first + ivec2(floor(place / tile_size));
    vec3 light = vec3(1.0);
    if (shown.x != 0) light *= 1.0 - depth(texelFetch(plus, tile, 0).r) * (1.0 - inks[0]);
    if (shown.y != 0) light *= 1.0 - depth(texelFetch(minus, tile, 0).r) * (1.0 - inks[1]);
    colour = vec4(light, 1.0);
}
