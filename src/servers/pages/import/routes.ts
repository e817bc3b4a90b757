import { hash } from 'node:crypto'
import { html } from 'hono/html'
import { idFromFormTag } from '../../../web/request/form-id.ts'
import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { decodeText } from '../../../model/input.ts'
import type { Unreadable } from '../../file/record.ts'
import { type ReadServers, readServers } from '../../file/server-file.ts'
import { withOffered } from '../../server-import.ts'
import { REGISTERED_MAX } from '../../server.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../../web/context.ts'
import { showPage } from '../../../web/html/page.ts'
import { tellNext } from '../../../web/request/next-notice.ts'
import { readUpload, type Upload, UPLOAD_BYTES_MAX } from '../../../web/request/upload.ts'
import { IMPORT_PATH, refuseImport, showImportForm } from './form.ts'
import { showCheck, showFirstWrong, showSaved, showWrong } from './check.ts'
import { writeLeftOut } from './left-out.ts'
import { checkedImports } from '../../records/checked-imports.ts'
import { serverChanges } from '../../records/server-changes.ts'
import type { Database } from '../../../database/database.ts'
import { serverSearch } from '../../records/server-search.ts'

/** Imports servers: read, checked, confirmed. Only the confirmation writes servers. */
export function addImportRoutes(app: App, dashboard: Dashboard): void {
  const { database, now } = dashboard

  app.get('/dashboard/servers/import', (c) => showImportForm(c))

  app.post('/dashboard/servers/import', async (c) => {
    const upload = await readUpload(c.req.raw)
    if (typeof upload === 'number') return refuseUpload(c, upload)
    const { userId } = c.get('session')
    const text = upload.fields.get('text') ?? ''
    const tag = upload.fields.get('form') ?? ''
    const kept = { text, ...(tag === '' ? {} : { tag }) }
    const read = await readSource(upload, await limitOf(database, userId))
    if ('complaint' in read) return refuseImport(c, `${escapeInvisible(read.complaint)}.`, kept)
    if (read.isCut) return refuseImport(c, showFirstWrong(read), kept)
    const placeOf = (position: number) => read.places[position]!
    const { planServers } = checkedImports(database)
    let plan = await planServers(userId, read.entries, { placeOf })
    const offered = plan.wrong.filter((one) => one.offered !== undefined)
    const entries = withOffered(read.entries, offered)
    if (offered.length > 0) plan = await planServers(userId, entries, { placeOf })
    const wrong = [...read.wrong, ...plan.wrong]
    if (wrong.length > 0) return refuseImport(c, showWrong(wrong, plan, read.leftOut), kept)
    // The same form with another content is another import.
    const content = hash('sha256', JSON.stringify([entries, read.places]), 'hex')
    const id = idFromFormTag(userId, tag && `${tag}\n${content}`)
    await checkedImports(database).keepImport(userId, id, entries, now(), read.places)
    return c.redirect(
      `${IMPORT_PATH}/${id}${writeLeftOut({ ...read.leftOut, offered: offered.length })}`,
      303,
    )
  })

  app.get('/dashboard/servers/import/:id', (c) => showKept(dashboard, c))

  app.post('/dashboard/servers/import/:id', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const saved = await checkedImports(database).saveImport(
      userId,
      id,
      fieldOf(c, 'plan'),
      actorOf(dashboard, c),
    )
    if (saved === 'replanned') return showKept(dashboard, c, REPLANNED)
    if (saved !== 'saved') return showKept(dashboard, c)
    tellNext(dashboard, c, 'changed', id)
    return c.redirect('/dashboard/servers', 303)
  })
}

const REPLANNED =
  'Your servers have changed since this check. Nothing was imported. Check the new numbers below and confirm again.'

/** The check of a kept import, as it would be saved now. */
async function showKept(
  { database, now }: Dashboard,
  c: Context,
  replanned?: string,
): Promise<Response> {
  const { userId } = c.get('session')
  const id = c.req.param('id') ?? ''
  const kept = await checkedImports(database).findImport(userId, id, now())
  if (kept === null) return showExpired(c)
  if (kept.saved !== null) {
    const change = await serverChanges(database).findChange(userId, id, now())
    return showSaved(c, kept.saved, change !== null && change.restored !== null)
  }
  const placeOf = (position: number) => kept.places[position]!
  const plan = await checkedImports(database).planServers(userId, kept.entries, { placeOf })
  return showCheck(
    c,
    id,
    plan,
    replanned === undefined ? undefined : { kind: 'bad', text: replanned },
  )
}

function showExpired(c: Context): Promise<Response> {
  return showPage(c, {
    title: 'This check has expired',
    status: 404,
    width: 'form',
    body: html`<p>A check is kept for one hour. Nothing was imported. <a href="${IMPORT_PATH}">Check the servers again</a></p>`,
  })
}

function refuseUpload(c: Context, status: 400 | 413 | 415): Promise<Response> {
  if (status !== 413) return refuseImport(c, 'This form did not come from this page.', { status })
  const size = `${UPLOAD_BYTES_MAX / 1_000_000} MB`
  const command = `server-listing server import --user ${c.get('session').email} FILE`
  const text = html`This is more than ${size}, the limit of an import here. An operator can import more with <code>${command}</code>.`
  return refuseImport(c, text, { status })
}

/** An operator's import can exceed REGISTERED_MAX. The user can import an export nevertheless. */
async function limitOf(database: Database, userId: string): Promise<number> {
  const { registered } = await serverSearch(database).searchServers(userId, { text: '', page: 1 })
  return Math.max(REGISTERED_MAX, registered)
}

/** The servers of the file or of the pasted text. A complaint is a sentence without its end. */
async function readSource(
  { fields, file }: Upload,
  limit: number,
): Promise<ReadServers | Unreadable> {
  const text = fields.get('text') ?? ''
  const isPasted = text.trim() !== ''
  if (file === null && !isPasted) return { complaint: 'Paste servers or choose a file' }
  if (file !== null && isPasted)
    return { complaint: 'Paste servers or choose a file, but not both' }
  const source = file === null ? 'The text' : 'The file'
  const decoded = file === null ? { text } : decodeText(file)
  const read =
    'complaint' in decoded ? decoded : await readServers(decoded.text, { rowsMax: limit })
  if ('complaint' in read) return { complaint: `${source} ${read.complaint}` }
  if (read.rows === 0) return { complaint: `${source} has no servers` }
  return read
}
