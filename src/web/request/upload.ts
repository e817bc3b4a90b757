import { setImmediate as otherWork } from 'node:timers/promises'
import { MIMEType } from 'node:util'

/** The longest upload that the service reads. */
export const UPLOAD_BYTES_MAX = 1_000_000
/**
 * A longer upload is read to its end and dropped, because browsers show no answer before they have
 * sent everything. Beyond this length the service hangs up.
 */
const DROPPED_BYTES_MAX = 64_000_000

/** The form of an import has three. Parsing thousands holds the event loop. */
const PARTS_MAX = 10

export interface Upload {
  /** The text fields of the form. */
  fields: URLSearchParams
  /** The chosen file, or null. */
  file: Buffer | null
}

/** Reads a form with a file (multipart/form-data), or returns the status that refuses it. */
export async function readUpload(request: Request): Promise<Upload | 400 | 413 | 415> {
  const type = request.headers.get('Content-Type') ?? ''
  if (!/^multipart\/form-data;/i.test(type)) return 415
  const body = await readBody(request.body ?? [])
  if (body === null) return 413
  try {
    if (hasManyParts(body, type)) return 400
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData()
    const upload = await toUpload(form)
    // Parsing has filled a turn of the event loop.
    await otherWork()
    return upload
  } catch (error) {
    // The parser throws it for every body that is no form.
    if (error instanceof TypeError) return 400
    throw error
  }
}

/** Null if the body is longer than UPLOAD_BYTES_MAX. */
export async function readBody(
  body: AsyncIterable<Uint8Array> | readonly [],
): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > DROPPED_BYTES_MAX) return null
    if (length <= UPLOAD_BYTES_MAX) chunks.push(chunk)
    else chunks.length = 0
  }
  return length > UPLOAD_BYTES_MAX ? null : Buffer.concat(chunks)
}

function hasManyParts(body: Buffer, type: string): boolean {
  const boundary = `--${new MIMEType(type).params.get('boundary')}`
  let end = 0
  // Each part follows a boundary, and one more ends the form.
  for (let boundaries = 0; boundaries < PARTS_MAX + 2; boundaries += 1) {
    const at = body.indexOf(boundary, end)
    if (at === -1) return false
    end = at + boundary.length
  }
  return true
}

async function toUpload(form: FormData): Promise<Upload> {
  const fields = new URLSearchParams()
  let file: Buffer | null = null
  for (const [name, value] of form) {
    if (typeof value === 'string') fields.append(name, value)
    // A form without a chosen file sends an empty one.
    else if (value.size > 0) file = Buffer.from(await value.arrayBuffer())
  }
  return { fields, file }
}
