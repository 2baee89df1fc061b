// Letters of a query in the query profile of fragment.frag: behind those of the alphabet one for
// padding, and with POSITIONAL_GAPS two for gap costs, which are 0 below the query. The texture of
// scores has all but that for padding, in column_of() a letter.
// Needs LETTERS, and `padding` where below_query() is used.
#ifdef POSITIONAL_GAPS
#define PROFILE_LETTERS (LETTERS + 3)
#define is_real(letter) (letter != LETTERS)
#define column_of(letter) (letter - int(letter > LETTERS))
#define below_query(letter) (letter > LETTERS ? 0 : padding)
#else
#define PROFILE_LETTERS (LETTERS + 1)
#define is_real(letter) letter < LETTERS
#define column_of(letter) letter
#define below_query(letter) padding
#endif
