/** Just below the dashboard's limit. */
const BYTES = 999_000

export interface SentUpload {
  /** The text field, in the place of a file. */
  text?: string
  file?: string
  /** Other fields of the form. */
  fields?: readonly string[]
}

/** Uploads that make a service work as long as possible. */
export const UPLOADS: Readonly<Record<string, SentUpload>> = {
  'JSON of 333,000 empty objects': { file: listOf('{}') },
  'JSON of 499,000 zeros': { file: listOf('0') },
  'CSV of 499,000 short rows': { file: `name,address\n${'a\n'.repeat(BYTES / 2 - 10)}` },
  'CSV of 249,000 wide rows': { file: `name,address\n${',,,\n'.repeat(BYTES / 4 - 10)}` },
  'CSV of one row of commas': { file: `name,address\n${','.repeat(BYTES - 20)}` },
  'CSV that begins with commas': { file: `name,address${','.repeat(BYTES - 20)}` },
  'CSV of quotes': { file: `name,address\n"${'""'.repeat(BYTES / 2 - 20)}",a.example` },
  'CSV with a column of invisible characters': {
    file: `name,address,${'\u200b'.repeat(BYTES / 3 - 20)}\n`,
  },
  'JSON of deep arrays': { file: `${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}` },
  'JSON of one object of 90,000 fields': {
    file: `[{${Array.from({ length: 90_000 }, (_, at) => `"f${at}":0`)
      .join(',')
      .slice(0, BYTES)}}]`,
  },
  'JSON of a list of zeros as a name': { file: `[{"name":${listOf('0')}}]` },
  'JSON of a long name of invisible characters': {
    file: `[{"name":"${'\u200b'.repeat(BYTES / 3 - 20)}","address":"a"}]`,
  },
  'JSON of a long address': { file: `[{"name":"a","address":"${'a.'.repeat(BYTES / 2 - 20)}"}]` },
  'JSON of servers with long wrong names': {
    file: listOf(JSON.stringify({ name: `a\u0007${'é🏰'.repeat(200)}`, address: 'a b' })),
  },
  'pasted JSON of tags': { text: listOf('"<b>&"') },
  'a form of 9,000 fields': { fields: Array.from({ length: 9_000 }, (_, at) => `f${at}`) },
  '500 new servers': {
    file: JSON.stringify(
      Array.from({ length: 490 }, (_, at) => ({
        name: `🏰 Server ${at}`,
        address: `s${at}.example.com`,
        slug: `s-${at}`,
        version: '1.21',
      })),
    ),
  },
}

function listOf(item: string): string {
  const count = Math.floor((BYTES - 2) / (Buffer.byteLength(item) + 1))
  return `[${Array<string>(count).fill(item).join(',')}]`
}

/** The body of a form with a file (multipart/form-data), written by hand: it is quick. */
export function bodyOf({ text, file, fields = [] }: SentUpload): Buffer {
  const part = (head: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
  const parts = [
    ...fields.map((name) => part(`name="${name}"`, '')),
    ...(text === undefined ? [] : [part('name="text"', text)]),
    ...(file === undefined ? [] : [part('name="file"; filename="servers"', file)]),
  ]
  return Buffer.from(`${parts.join('')}--${BOUNDARY}--\r\n`)
}

const BOUNDARY = '----a-boundary-of-a-browser'
export const UPLOAD_TYPE = `multipart/form-data; boundary=${BOUNDARY}`
