import { hash } from 'node:crypto'
import { idFromFormTag } from '../../../web/request/form-id.ts'
import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { decodeText } from '../../../model/input.ts'
import type { Unreadable } from '../../file/record.ts'
import { type ReadServers, readServers } from '../../file/server-file.ts'
import { withOffered } from '../../server-import.ts'
import { REGISTERED_MAX } from '../../server.ts'
import { type App, actorOf, type Context, type Dashboard } from '../../../web/context.ts'
import { tellNext } from '../../../web/request/next-notice.ts'
import { readUpload, type Upload, UPLOAD_BYTES_MAX } from '../../../web/request/upload.ts'
import { IMPORT_PATH, refuseImport, showImportForm } from './form.ts'
import { showCheck, showFirstWrong, showWrong } from './check.ts'
import type { Database } from '../../../database/database.ts'
import { serverSearch } from '../../records/server-search.ts'
import { serverImports } from '../../records/server-imports.ts'
import type { ServerEntry } from '../../server-entry.ts'

/**
 * Imports servers: read, checked, confirmed. The page of the check has the text in a form, and only
 * this form writes servers.
 */
export function addImportRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.get(IMPORT_PATH, (c) => showImportForm(c))

  app.post(IMPORT_PATH, async (c) => {
    const upload = await readUpload(c.req.raw)
    if (typeof upload === 'number') return refuseUpload(c, upload)
    const { userId } = c.get('session')
    const { fields } = upload
    const [tag, confirmed] = [fields.get('form') ?? '', fields.get('plan')]
    const kept = { text: fields.get('text') ?? '', ...(tag === '' ? {} : { tag }) }
    const source = textOf(upload)
    if ('complaint' in source) return refuseImport(c, `${source.complaint}.`, kept)
    if (lengthInForm(source.text) > TEXT_BYTES_MAX) return refuseUpload(c, 413)
    const read = await readSource(source, await limitOf(database, userId))
    if ('complaint' in read) return refuseImport(c, `${escapeInvisible(read.complaint)}.`, kept)
    if (read.isCut) return refuseImport(c, showFirstWrong(read), kept)
    const checked = await check(dashboard, c, read)
    const wrong = [...read.wrong, ...checked.plan.wrong]
    // A check that was shown is shown again, with the reason for it.
    const isShown = confirmed !== null && read.wrong.length === 0
    if (wrong.length > 0 && !isShown)
      return refuseImport(c, showWrong(wrong, checked.plan, read.leftOut), kept)
    const shown = { text: source.text, tag, leftOut: read.leftOut, offered: checked.offered }
    if (confirmed === null) return showCheck(c, checked.plan, shown)
    // The same form with another content is another import.
    const content = hash('sha256', JSON.stringify(checked.entries), 'hex')
    const id = idFromFormTag(userId, tag && `${tag}\n${content}`)
    const options = { ...checked.options, id, fingerprint: confirmed }
    const { saveChecked } = serverImports(database)
    const changed = await saveChecked(userId, checked.entries, actorOf(dashboard, c), options)
    if (changed !== null) return showCheck(c, changed, shown, REPLANNED)
    tellNext(dashboard, c, 'changed', id)
    return c.redirect('/dashboard/servers', 303)
  })
}

const REPLANNED =
  'Your servers have changed since this check. Nothing was imported. Check the new numbers below and confirm again.'

/** Plans the entries. One that differs from a known value only in case gets the known one. */
async function check({ database, now }: Dashboard, c: Context, { entries, places }: ReadServers) {
  const { userId } = c.get('session')
  const options = {
    ownedMax: REGISTERED_MAX,
    placeOf: (position: number) => places[position]!,
  }
  const planned = (some: readonly ServerEntry[]) =>
    serverImports(database).planServers(userId, null, some, now(), options)
  const plan = await planned(entries)
  const offered = plan.wrong.filter((one) => one.offered !== undefined)
  if (offered.length === 0) return { entries, options, plan, offered: 0 }
  const taken = withOffered(entries, offered)
  return { entries: taken, options, plan: await planned(taken), offered: offered.length }
}

function refuseUpload(c: Context, status: 400 | 413 | 415): Promise<Response> {
  if (status !== 413) return refuseImport(c, 'This form did not come from this page.', { status })
  const size = `${UPLOAD_BYTES_MAX / 1_000_000} MB`
  return refuseImport(c, `This is more than ${size}, the limit of an import.`, { status })
}

/** Declared state can exceed REGISTERED_MAX. The user can import an export nevertheless. */
async function limitOf(database: Database, userId: string): Promise<number> {
  const { registered } = await serverSearch(database).searchServers(userId, { text: '', page: 1 })
  return Math.max(REGISTERED_MAX, registered)
}

/** The form that confirms has the text and a few short fields, which have this room. */
const TEXT_BYTES_MAX = UPLOAD_BYTES_MAX - 1_000

/** Bytes of a text in a form: a browser sends each line end as two characters. */
const lengthInForm = (text: string): number =>
  Buffer.byteLength(text.replace(/\r\n|\r|\n/g, '\r\n'))

interface Source {
  /** As the subject of a sentence. */
  name: string
  text: string
}

/** The text of the file, or the pasted one. A complaint is a sentence without its end. */
function textOf({ fields, file }: Upload): Source | Unreadable {
  const text = fields.get('text') ?? ''
  const isPasted = text.trim() !== ''
  if (file === null && !isPasted) return { complaint: 'Paste servers or choose a file' }
  if (file !== null && isPasted)
    return { complaint: 'Paste servers or choose a file, but not both' }
  if (file === null) return { name: 'The text', text }
  const decoded = decodeText(file)
  return 'complaint' in decoded
    ? { complaint: `The file ${escapeInvisible(decoded.complaint)}` }
    : { name: 'The file', text: decoded.text }
}

async function readSource(
  { name, text }: Source,
  limit: number,
): Promise<ReadServers | Unreadable> {
  const read = await readServers(text, { rowsMax: limit })
  if ('complaint' in read) return { complaint: `${name} ${read.complaint}` }
  if (read.rows === 0) return { complaint: `${name} has no servers` }
  return read
}
