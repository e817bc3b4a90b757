/**
 * The error of a setting with what a reader of a file left on its value, in words that follow
 * "must". Null if there is nothing.
 */
export function complaintAboutStray(text: string): string | null {
  if (/\p{Cc}/u.test(text))
    return 'have no line end and no other control character. A shell keeps the line ends of a file from Windows: remove them with dos2unix'
  if (/^\s|\s$/.test(text)) return 'not begin or end with a space'
  if (/^(["']).*\1$/s.test(text))
    return 'have no quotes around it. `docker run --env-file` keeps the quotes of a file: leave them out there'
  return null
}
