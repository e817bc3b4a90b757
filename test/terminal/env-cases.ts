/** The value of SITE_NAME in a file for `--env-file`, or the sentence that refuses it. */
export interface EnvCase {
  text: string
  value?: string
  refused?: RegExp
}

const QUOTES = /, line 1: write SITE_NAME="value" if the value has a space or a special character/
const DOLLAR =
  /, line 1: the value of SITE_NAME has a \$, a ` or a \\, which programs read differently/
const SHAPE = /, line 1: write NAME=value, without export and without spaces around the =$/

/** What four programs read alike, and what they do not. */
export const ENV_CASES: readonly EnvCase[] = [
  { text: 'SITE_NAME=b', value: 'b' },
  { text: '  SITE_NAME=b\n', value: 'b' },
  { text: '# SITE_NAME=c\n \n\t# x\nSITE_NAME=b\n\n', value: 'b' },
  { text: 'SITE_NAME=b\r\n# c\r\nB=d\r\n', value: 'b' },
  { text: 'SITE_NAME=b  \t', value: 'b' },
  { text: 'SITE_NAME=é', value: 'é' },
  // A # begins a comment only behind a space.
  { text: 'SITE_NAME=https://example.com/help#us', value: 'https://example.com/help#us' },
  { text: 'SITE_NAME=#b', value: '#b' },
  { text: 'SITE_NAME=b=c%20@+,./:-_*?[x]{a,b}!^', value: 'b=c%20@+,./:-_*?[x]{a,b}!^' },
  { text: 'SITE_NAME=https://example.com/~ada', value: 'https://example.com/~ada' },
  { text: 'SITE_NAME="b c"', value: 'b c' },
  { text: "SITE_NAME='b c'  ", value: 'b c' },
  { text: 'SITE_NAME="b&c;d|e(f)<g>#h #i ~ it\'s"', value: "b&c;d|e(f)<g>#h #i ~ it's" },
  { text: `SITE_NAME='the "best"'`, value: 'the "best"' },
  { text: 'SITE_NAME="b c"\r\n', value: 'b c' },

  { text: 'SITE_NAME=b c', refused: QUOTES },
  { text: 'SITE_NAME=b #c', refused: QUOTES },
  { text: 'SITE_NAME="b" # c', refused: QUOTES },
  { text: 'SITE_NAME=b\tc', refused: QUOTES },
  { text: 'SITE_NAME=b;c', refused: QUOTES },
  { text: 'SITE_NAME=b&c', refused: QUOTES },
  { text: 'SITE_NAME=b|c', refused: QUOTES },
  { text: 'SITE_NAME=b(c)', refused: QUOTES },
  { text: 'SITE_NAME=b<c', refused: QUOTES },
  { text: 'SITE_NAME=~/b', refused: QUOTES },
  { text: 'SITE_NAME=b:~/c', refused: QUOTES },
  { text: "SITE_NAME=it's", refused: QUOTES },
  { text: 'SITE_NAME="b', refused: QUOTES },
  { text: 'SITE_NAME="b"c', refused: QUOTES },
  { text: 'SITE_NAME=$HOME', refused: DOLLAR },
  { text: 'SITE_NAME="$HOME"', refused: DOLLAR },
  { text: `SITE_NAME='\${HOME}'`, refused: DOLLAR },
  { text: 'SITE_NAME=b\\c', refused: DOLLAR },
  { text: 'SITE_NAME="b\\\\c"', refused: DOLLAR },
  { text: 'SITE_NAME="`b`"', refused: DOLLAR },
  { text: 'SITE_NAME=b\\\nB=c', refused: DOLLAR },
  { text: 'export SITE_NAME=b', refused: SHAPE },
  { text: 'SITE_NAME', refused: SHAPE },
  { text: 'SITE_NAME =b', refused: SHAPE },
  { text: 'SITE_NAME= b', refused: QUOTES },
  { text: '; SITE_NAME=c', refused: SHAPE },
  { text: 'SITE_NAME.B=c', refused: SHAPE },
  { text: '1SITE_NAME=c', refused: SHAPE },
  { text: '# b \\\nSITE_NAME=c', refused: /, line 1: remove the \\ at the end of the comment/ },
  {
    text: 'SITE_NAME=b\nSITE_NAME=c',
    refused: /, line 2: SITE_NAME is set twice; remove one of the lines$/,
  },
]
