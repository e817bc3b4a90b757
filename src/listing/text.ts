/** What is wrong with a line of text that a person gave, in words that follow "must"; null if nothing is. */
export function complaintAboutLine(text: string, codePointsMax: number): string | null {
  const length = [...text].length
  if (length < 1 || length > codePointsMax)
    return `have 1 to ${codePointsMax} characters, not ${length}`
  if (/\p{Cc}|[\u2028\u2029]/u.test(text)) return 'have no control characters'
  if (!text.isWellFormed()) return 'be well-formed Unicode'
  return null
}

/** A value as it can stand in a sentence: quoted, escaped, and cut where it is long. */
export function quote(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  const characters = [...json]
  return characters.length <= 80 ? json : `${characters.slice(0, 77).join('')}…`
}
