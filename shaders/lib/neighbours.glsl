// The invocations of a work group side by side, numbered by gl_LocalInvocationIndex. GLSL promises
// neither that they fill subgroups in this order nor that a compiler chose gl_SubgroupSize lanes
// for them. So with SUBGROUPS, where values are handed on by shuffles, the host first has a program
// prove its order, and compiles it without them if it does not (`Programs.program`).
// Needs TOGETHER: the neighbours that have to be in one subgroup, a power of two. Comes before any
// declaration, as extensions must.
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#endif

int lane() { return int(gl_LocalInvocationIndex); }

#ifdef SUBGROUPS
uniform int proving;  // 1: each invocation only says whether it is in order

// The first lane of the subgroup, whose lanes are all in step.
int first_in_step() { return lane() - int(gl_SubgroupInvocationID); }

int in_order() {
    int t = lane(), place = int(gl_SubgroupInvocationID), before = subgroupShuffleUp(t, 1u);
    bool in_turn = subgroupShuffle(t, 0u) == t - place && place % TOGETHER == t % TOGETHER;
    return int(in_turn && (t % TOGETHER == 0 || before == t - 1));
}
#else
const int proving = 0;

// Where lanes wait for their neighbours, the whole work group is in step.
int first_in_step() { return TOGETHER == 1 ? lane() : 0; }

int in_order() { return 1; }
#endif
