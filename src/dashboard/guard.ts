import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { showPage } from './page.ts'
import { isSameOrigin } from './same-origin.ts'
import type { Dashboard, Env } from './visit.ts'

/** Of a form, in bytes; longer ones are not read. */
const BODY_BYTES_MAX = 16_384

/** Nothing inline, nothing from anywhere else, and no other page may hold this one in a frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export function setSecurityHeaders({ dashboardUrl }: Dashboard) {
  const isSecure = dashboardUrl.startsWith('https://')
  return createMiddleware<Env>(async (visit, next) => {
    visit.set('path', visit.req.path)
    await next()
    const { headers } = visit.res
    headers.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    headers.set('X-Content-Type-Options', 'nosniff')
    headers.set('X-Frame-Options', 'DENY')
    headers.set('Cross-Origin-Opener-Policy', 'same-origin')
    headers.set('Cross-Origin-Resource-Policy', 'same-origin')
    // Not `no-referrer`, with which a browser sends `Origin: null` along with our own forms.
    headers.set('Referrer-Policy', 'same-origin')
    if (isSecure) headers.set('Strict-Transport-Security', 'max-age=31536000')
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  })
}

/** Lets through what only reads, and forms of our own pages, which it reads. */
export function checkRequest({ dashboardUrl }: Dashboard) {
  return createMiddleware<Env>(async (visit, next) => {
    const { method } = visit.req
    if (method === 'GET' || method === 'HEAD') return next()
    if (method !== 'POST') return visit.notFound()

    const origins = {
      secFetchSite: visit.req.header('Sec-Fetch-Site'),
      origin: visit.req.header('Origin'),
      host: visit.req.header('Host'),
    }
    if (!isSameOrigin(origins, dashboardUrl)) {
      visit.header('Connection', 'close')
      return showPage(visit, {
        title: 'Not from here',
        status: 403,
        body: html`<p>This form was sent by another site, or by a browser that does not say where it comes from; nothing was changed. If this is your own dashboard behind a proxy, its operator has to set <code>DASHBOARD_URL</code>.</p>`,
      })
    }
    const form = await readForm(visit.req.raw)
    if (typeof form === 'number') {
      visit.header('Connection', 'close')
      return showPage(visit, {
        title: form === 413 ? 'Too long' : 'Not a form',
        status: form,
        body:
          form === 413
            ? html`<p>A form may have ${BODY_BYTES_MAX} bytes; this one had more. Nothing was changed.</p>`
            : html`<p>This address takes the forms of its own pages only. Nothing was changed.</p>`,
      })
    }
    visit.set('form', form)
    return next()
  })
}

async function readForm(request: Request): Promise<URLSearchParams | 413 | 415> {
  const type = request.headers.get('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded(;|$)/i.test(type)) return 415
  if (Number(request.headers.get('Content-Length') ?? 0) > BODY_BYTES_MAX) return 413
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) return 413
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString())
}
