// Gap costs: the first position of a gap costs `gap_open`, each further one `gap_extend`.
// LINEAR: both are the same. SEPARATE: query letters opposite a gap (F, insertions) have costs of
// their own. Needs nothing.
uniform int gap_open;
#ifndef LINEAR
uniform int gap_extend;
#endif
#ifdef SEPARATE
uniform int insertion_open, insertion_extend;
#else
#define insertion_open gap_open
#define insertion_extend gap_extend
#endif
