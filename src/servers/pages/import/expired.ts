import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { cookieOf, type Dashboard, type Env } from '../../../web/context.ts'
import { readUpload } from '../../../web/request/upload.ts'
import { IMPORT_PATH, showImportForm } from './form.ts'

/**
 * The most uploads without a session that the service reads at the same time. Others get the
 * sign-in page.
 */
const READ_AT_ONCE = 4

/**
 * If the session ends before an import is sent, shows the form again with the pasted text, which is
 * too long for the address that signing in returns to.
 */
export function keepImportText({ accounts }: Dashboard) {
  let reading = 0
  return createMiddleware<Env>(async (c, next) => {
    if (c.req.method !== 'POST' || reading >= READ_AT_ONCE) return next()
    if ((await accounts.readSession(cookieOf(c))) !== null) return next()
    reading += 1
    try {
      const upload = await readUpload(c.req.raw)
      const text = typeof upload === 'number' ? '' : (upload.fields.get('text') ?? '')
      const signIn = `/sign-in?next=${encodeURIComponent(IMPORT_PATH)}`
      const isFile = typeof upload !== 'number' && upload.file !== null
      const message = html`Your session has ended, and nothing was imported. <a href="${signIn}" target="_blank">Sign in in a new tab</a>, then ${isFile ? 'choose the file again and press Check' : 'press Check here again'}.`
      const notice = { kind: 'bad', text: message } as const
      return await showImportForm(c, { text, notice, status: 401 })
    } finally {
      reading -= 1
    }
  })
}
