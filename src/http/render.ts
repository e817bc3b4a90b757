import { STATUS_CODES } from 'node:http'

/** The status line and these header lines. Names and values alternate. */
export function renderHead(status: number, headers: readonly string[]): Buffer {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let index = 0; index < headers.length; index += 2)
    head += `${headers[index]}: ${headers[index + 1]}\r\n`
  return Buffer.from(head, 'latin1')
}
