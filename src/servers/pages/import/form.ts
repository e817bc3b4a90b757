import { html } from 'hono/html'
import { REGISTERED_MAX } from '../../server.ts'
import type { Context } from '../../../web/context.ts'
import { AS_CODE, showFormTag } from '../../../web/html/form-field.ts'
import { type Notice, type Page, showPage } from '../../../web/html/page.ts'
import { type Html, showLongText } from '../../../web/html/text.ts'
import { UPLOAD_BYTES_MAX } from '../../../web/request/upload.ts'
import { OPTIONAL_COLUMNS } from '../../file/columns.ts'

export const IMPORT_PATH = '/dashboard/servers/import'

export interface ImportForm {
  /** What the user has pasted. The page keeps it. */
  text?: string
  /** The tag of the form that was sent, which it keeps. */
  tag?: string
  notice?: Notice
  status?: Page['status']
}

/** The form for new servers: a text or a file. */
export function showImportForm(c: Context, form: ImportForm = {}): Promise<Response> {
  const { text = '', tag, notice, status = 200 } = form
  const size = `${UPLOAD_BYTES_MAX / 1_000_000} MB`
  return showPage(c, {
    title: 'Import servers',
    lead: 'Paste servers or choose a file. You see what would change before anything is saved.',
    width: 'form',
    status,
    notice,
    body: html`<form class="card" method="post" action="${IMPORT_PATH}" enctype="multipart/form-data">
${showFormTag(tag)}
<div class="field"><label for="text">JSON or CSV</label>
<textarea id="text" name="text" rows="8" autocomplete="off"${AS_CODE} aria-describedby="text-hint">
${showLongText(text)}</textarea>
<p class="hint" id="text-hint">Each server needs a <code>name</code> and an <code>address</code>. Optional: ${OPTIONAL_COLUMNS.map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`)}. In CSV, these names are the first row. An entry changes your server with the same <code>id</code>, or else slug, or else address and edition. Any other entry is a new server.</p></div>
<div class="field"><label for="file">Or a file</label>
<input id="file" name="file" type="file" accept=".json,.csv,.txt,application/json,text/csv,text/plain" aria-describedby="file-hint">
<p class="hint" id="file-hint">UTF-8, up to ${size} and ${REGISTERED_MAX} servers.</p></div>
<div class="row"><button class="primary">Check</button><a class="button" href="/dashboard/servers">Cancel</a></div>
</form>`,
  })
}

/** The form again, with the reason why nothing was imported. */
export function refuseImport(
  c: Context,
  reason: string | Html,
  form: ImportForm = {},
): Promise<Response> {
  const text = html`${reason} Nothing was imported.`
  return showImportForm(c, { status: 422, ...form, notice: { kind: 'bad', text } })
}
