/*
 * Invisible characters, and characters that change the direction of writing, make different names
 * look equal. These functions spell them out.
 */

/** Invisible characters: Unicode's own list, and blank ones that are missing from it. */
const INVISIBLE = String.raw`\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}\u{1d159}`
/** Also spelled out: characters whose glyph depends on the font alone. */
const SPELLED_OUT = String.raw`[${INVISIBLE}\p{Co}\p{Noncharacter_Code_Point}]`

/** Most texts are plain. Only others need the patterns below, which take long to compile. */
const IS_PLAIN = /^[\x20-\x7e]*$/
const invisible = onDemand(() => new RegExp(`[${INVISIBLE}]`, 'v'))
const visible = onDemand(() => new RegExp(`[^${INVISIBLE}\\p{Z}]`, 'v'))
const spelledOut = onDemand(() => new RegExp(SPELLED_OUT, 'v'))
/**
 * Scripts whose letters take another shape beside a joiner (U+200D) or a non-joiner (U+200C), such
 * as Persian and Hindi. In other scripts both are invisible.
 */
const SHAPED = ['Arab', 'Syrc', 'Nkoo', 'Mand', 'Adlm', 'Rohg', 'Mong', 'Khmr', 'Mymr', 'Tibt']
  .concat('Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh')
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('')
const SHAPED_LETTER = String.raw`[[${SHAPED}]&&[\p{L}\p{M}]]`
/** Signs that join consonants. A joiner may also end the word behind one, as in Malayalam. */
const VIRAMA = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]`
const JOINER = String.raw`(?<=${SHAPED_LETTER})[\u200c\u200d](?=${SHAPED_LETTER})|(?<=${VIRAMA})\u200d`
/**
 * Marks that keyboards for Hebrew and Arabic insert. Beside a space or a sign, near a letter of
 * such a script, a mark places that sign. Within a word, behind one, or twice, it changes nothing.
 */
const MARK = String.raw`[\u061c\u200e\u200f]`
const FROM_RIGHT = ['Hebr', 'Arab', 'Syrc', 'Thaa', 'Nkoo', 'Mand', 'Adlm', 'Rohg', 'Samr']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('')
const RIGHT_LETTER = String.raw`[[${FROM_RIGHT}]&&[\p{L}]]`
const SIGN = String.raw`[^\p{L}\p{M}${INVISIBLE}]`
const DIRECTION = [
  String.raw`(?<=${RIGHT_LETTER}\p{M}*)${MARK}(?=${SIGN})`,
  String.raw`(?<=${RIGHT_LETTER}\p{M}*${SIGN}{1,8})${MARK}`,
  String.raw`(?<=${SIGN})${MARK}(?=${RIGHT_LETTER})`,
  String.raw`${MARK}(?=${SIGN}{1,8}${RIGHT_LETTER})`,
].join('|')
/** U+FE0E shows an emoji as a sign in the color of the text, such as a heart. */
const TEXT_STYLE = String.raw`(?<=\p{Extended_Pictographic})\ufe0e`
/**
 * Captures a character, but not a joiner that shapes letters, a mark that directs signs, or an
 * emoji: its joiners and selectors are part of what people see. Compiling it takes 20 ms, so only a
 * text with something to spell out does.
 */
const emojiOrCharacter = onDemand(
  () => new RegExp(`\\p{RGI_Emoji}|${JOINER}|${DIRECTION}|${TEXT_STYLE}|(.)`, 'syv'),
)

/** Emoji that joiners connect, as keyboards write them: some leave out U+FE0F. */
const joinedEmoji = onDemand(
  () =>
    /\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?(?:\u200d\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)+/vy,
)
// Stryker disable next-line Regex: \P{RGI_Emoji} is a syntax error
const wholeEmoji = onDemand(() => /^\p{RGI_Emoji}$/v)

/** Code units of the longest picture, with room for later ones. */
const PICTURE_LENGTH_MAX = 40

/** True for a sequence that fonts have one picture for, with or without each U+FE0F. */
function isOnePicture(joined: string): boolean {
  // A chain of emoji is tried again from each of them.
  if (joined.length > PICTURE_LENGTH_MAX) return false
  const qualified = joined
    .replaceAll('\ufe0f', '')
    .replace(
      /(?!\p{Emoji_Presentation})\p{Extended_Pictographic}(?!\p{Emoji_Modifier})/gu,
      '$&\ufe0f',
    )
  return wholeEmoji().test(qualified)
}

/** Makes a value when it is first asked for. */
export function onDemand<Made>(make: () => Made): () => Made {
  let made: Made | null = null
  return () => (made ??= make())
}

/** True if a text has only printable ASCII. */
export function isPlain(text: string): boolean {
  return IS_PLAIN.test(text)
}

export function hasInvisible(text: string): boolean {
  return !IS_PLAIN.test(text) && invisible().test(text)
}

/** True if a text has only spaces and invisible characters. */
export function isInvisible(text: string): boolean {
  return IS_PLAIN.test(text) ? text.trim() === '' : !visible().test(text)
}

/** Spells out invisible characters as `\u{200b}`, except in emoji or where they shape letters. */
export function escapeInvisible(text: string): string {
  // The search for emoji takes a hundred times longer than this test.
  return needsSpelling(text) ? [...escapedPieces(text)].join('') : text
}

/** The pieces of the result, one character or emoji each. */
export function* escapedPieces(text: string): Generator<string, void> {
  if (!needsSpelling(text)) yield* text
  else
    for (let at = 0; at < text.length; ) {
      const joined = matchAt(joinedEmoji(), text, at)?.[0]
      if (joined !== undefined && isOnePicture(joined)) {
        yield joined
        at += joined.length
        continue
      }
      const [piece = '', character] = matchAt(emojiOrCharacter(), text, at) ?? []
      yield character !== undefined && needsSpelling(character) ? spellOut(character) : piece
      at += piece.length
    }
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

function needsSpelling(text: string): boolean {
  return !IS_PLAIN.test(text) && spelledOut().test(text)
}

function spellOut(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}
