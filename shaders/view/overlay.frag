#version 330
// Text, axes, letters and paths over a dot plot in a window, drawn by the host pixel by pixel.
uniform sampler2D overlay;
uniform int height;  // of the window
out vec4 colour;

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    colour = texelFetch(overlay, ivec2(place.x, height - 1 - place.y), 0);
}
