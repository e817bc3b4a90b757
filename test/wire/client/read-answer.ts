/** An answer as received. */
export interface RawAnswer {
  status: number
  /** By lowercase name. Each name is unique. */
  headers: Record<string, string>
  body: string
  /** The number of bytes of the answer. */
  text: string
}

const STATUS_LINE = /^HTTP\/1\.1 ([2-5][0-9]{2}) [A-Z][A-Za-z -]*$/
const FIELD = /^([A-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)$/

/**
 * Reads the answer that begins at `from`. While it is incomplete, returns its length, or 0 before
 * the end of its head. Throws if it is malformed.
 */
export function readAnswer(text: string, from: number, isHead: boolean): RawAnswer | number {
  const end = text.indexOf('\r\n\r\n', from)
  if (end === -1) return 0
  const [first = '', ...lines] = text.slice(from, end).split('\r\n')
  const status = Number(STATUS_LINE.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`no status line: ${JSON.stringify(first)}`)

  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw new Error(`no header field: ${JSON.stringify(line)}`)
    if (name.toLowerCase() in headers) throw new Error(`twice: ${name}`)
    headers[name.toLowerCase()] = value
  }

  const start = end + 4
  const length = isHead || status === 204 ? 0 : Number(headers['content-length'])
  if (Number.isNaN(length)) throw new Error(`no length: ${JSON.stringify(lines)}`)
  if (text.length < start + length) return start + length - from
  const body = text.slice(start, start + length)
  return { status, headers, body, text: text.slice(from, start + length) }
}
