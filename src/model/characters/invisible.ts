/*
 * Invisible characters, and characters that change the direction of writing, make different names
 * look equal. These functions spell them out.
 */

/** Invisible characters: Unicode's own list, and blank ones that are missing from it. */
const INVISIBLE = String.raw`\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}\u{1d159}`
/** Also spelled out: characters whose glyph depends on the font alone. */
const SPELLED_OUT = String.raw`[${INVISIBLE}\p{Co}\p{Noncharacter_Code_Point}]`
/**
 * Letters and marks of scripts in which a joiner (U+200D) or a non-joiner (U+200C) shapes the
 * letters beside it, such as Persian and Hindi. In other scripts both are invisible.
 */
const SHAPED = `[[${'Arab Syrc Nkoo Mand Adlm Rohg Mong Khmr Mymr Tibt Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh'
  .split(' ')
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('')}]&&[\\p{L}\\p{M}]]`

/** Most texts are plain. Only others need the patterns below, which take long to compile. */
const IS_PLAIN = /^[\x20-\x7e]*$/
const invisible = onDemand(() => new RegExp(`[${INVISIBLE}]`, 'v'))
const visible = onDemand(() => new RegExp(`[^${INVISIBLE}\\p{Z}]`, 'v'))
const spelledOut = onDemand(() => new RegExp(SPELLED_OUT, 'v'))
/** Captures what is spelled out. An emoji has joiners and selectors that people see. */
const emojiOrSpelledOut = onDemand(
  () =>
    new RegExp(
      String.raw`\p{RGI_Emoji}|(?<=${SHAPED})[\u200c\u200d](?=${SHAPED})|(${SPELLED_OUT})`,
      'gv',
    ),
)

function onDemand(make: () => RegExp): () => RegExp {
  let made: RegExp | null = null
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

/**
 * Spells out invisible characters as `\u{200b}`, except in an emoji of Unicode's list or between
 * letters that they shape.
 */
export function escapeInvisible(text: string): string {
  // The search for emoji takes a hundred times longer than this test.
  if (IS_PLAIN.test(text) || !spelledOut().test(text)) return text
  return text.replace(emojiOrSpelledOut(), (found, character?: string) =>
    character === undefined ? found : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}
