/** An answer as received. */
export interface Answer {
  status: number
  /** Values by lowercase name, in order. */
  fields: Map<string, string[]>
  body: string
}

/** An answer and where its bytes end, or why there is none yet. */
export type Reading = { answer: Answer; end: number } | 'incomplete' | 'no answer'

/** A longer head is no answer: no server has a reason to send one, and judging it takes long. */
const HEAD_BYTES_MAX = 65_536

const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: .*)?$/

/**
 * Reads the first answer of a text of Latin-1 characters, after interim ones (1xx). Without a
 * length, the end of the connection ends the body.
 */
export function readAnswer(text: string, isHead: boolean, hasEnded: boolean): Reading {
  let from = 0
  for (;;) {
    const headEnd = text.indexOf('\r\n\r\n', from)
    if ((headEnd === -1 ? text.length : headEnd) - from > HEAD_BYTES_MAX) return 'no answer'
    if (headEnd === -1) {
      const isBeginning = 'HTTP/1.'.startsWith(text.slice(from, from + 7))
      return isBeginning && !hasEnded ? 'incomplete' : 'no answer'
    }
    const [first = '', ...lines] = text.slice(from, headEnd).split('\r\n')
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) return 'no answer'
    const start = headEnd + 4
    if (status < 200 && status !== 101) {
      from = start
      continue
    }
    const fields = readFields(lines)
    if (fields === null) return 'no answer'
    const body =
      isHead || status === 204 || status === 304
        ? { text: '', end: start }
        : readBody(text, start, fields, hasEnded)
    if (typeof body === 'string') return body
    return {
      answer: { status, fields, body: Buffer.from(body.text, 'latin1').toString() },
      end: body.end,
    }
  }
}

function readFields(lines: readonly string[]): Answer['fields'] | null {
  const fields: Answer['fields'] = new Map()
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+\-.^_`|~\w]+):(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return null
    const key = name.toLowerCase()
    const values = fields.get(key)
    if (values === undefined) fields.set(key, [withoutBlanks(value)])
    else values.push(withoutBlanks(value))
  }
  return fields
}

/** A regular expression would take quadratic time for many blanks within the value. */
function withoutBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value[start])) start += 1
  while (end > start && isBlank(value[end - 1])) end -= 1
  return value.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}

type Body = { text: string; end: number } | 'incomplete' | 'no answer'

function readBody(text: string, start: number, fields: Answer['fields'], hasEnded: boolean): Body {
  const missing = hasEnded ? 'no answer' : 'incomplete'
  if (fields.has('transfer-encoding')) return readChunks(text, start, missing)
  const [length] = fields.get('content-length') ?? []
  if (length === undefined)
    return hasEnded ? { text: text.slice(start), end: text.length } : 'incomplete'
  if (!/^\d{1,10}$/.test(length)) return 'no answer'
  const end = start + Number(length)
  return text.length < end ? missing : { text: text.slice(start, end), end }
}

function readChunks(text: string, start: number, missing: 'incomplete' | 'no answer'): Body {
  let body = ''
  for (let at = start; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return missing
    const [size] = /^[\da-f]{1,8}/i.exec(text.slice(at, lineEnd)) ?? []
    if (size === undefined) return 'no answer'
    const length = Number.parseInt(size, 16)
    const next = lineEnd + 2 + length
    if (length === 0) {
      const end = text.startsWith('\r\n', next) ? next : text.indexOf('\r\n\r\n', next) + 2
      return end < next || text.length < end + 2 ? missing : { text: body, end: end + 2 }
    }
    if (text.length < next + 2) return missing
    body += text.slice(lineEnd + 2, next)
    at = next + 2
  }
}

/** The values of a field in one line, or null if the answer does not have it. */
export function fieldOf({ fields }: Answer, name: string): string | null {
  return fields.get(name.toLowerCase())?.join(', ') ?? null
}

/** The same for a report. */
export function tellField(answer: Answer, name: string): string {
  const value = fieldOf(answer, name)
  return value === null ? `no ${name}` : `${name}: ${value}`
}

/** The body as a JSON object, or null if it is something else. */
export function objectOf({ body }: Answer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
