import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { count } from '../../model/text.ts'
import type { Dashboard, Env } from '../context.ts'
import { showPage } from '../html/page.ts'

/** The longest form that the service reads. */
export const FORM_BYTES_MAX = 16_384

/** Forbids inline code, other origins, and frames around our pages. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export function setSecurityHeaders({ dashboardUrl }: Dashboard) {
  const isSecure = dashboardUrl.startsWith('https://')
  return createMiddleware<Env>(async (c, next) => {
    await next()
    const { headers } = c.res
    // A public page has a stricter policy of its own.
    if (!headers.has('Content-Security-Policy'))
      headers.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    headers.set('X-Content-Type-Options', 'nosniff')
    headers.set('X-Frame-Options', 'DENY')
    headers.set('Cross-Origin-Opener-Policy', 'same-origin')
    if (!headers.has('Cross-Origin-Resource-Policy'))
      headers.set('Cross-Origin-Resource-Policy', 'same-origin')
    // With `no-referrer`, browsers would send `Origin: null` with our own forms.
    headers.set('Referrer-Policy', 'same-origin')
    if (isSecure) headers.set('Strict-Transport-Security', 'max-age=31536000')
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  })
}

/**
 * Admits reading requests and forms of our own pages, and parses the form. The pages at
 * `uploadPaths` read their forms themselves, because those are long.
 */
export function checkRequest({ dashboardUrl }: Dashboard, uploadPaths: readonly string[]) {
  return createMiddleware<Env>(async (c, next) => {
    const { method } = c.req
    if (method === 'GET' || method === 'HEAD') return next()
    if (method !== 'POST') return c.notFound()

    const origins = {
      secFetchSite: c.req.header('Sec-Fetch-Site'),
      origin: c.req.header('Origin'),
      host: c.req.header('Host'),
    }
    if (!isSameOrigin(origins, dashboardUrl)) {
      c.header('Connection', 'close')
      return showPage(c, {
        title: 'Form refused',
        status: 403,
        width: 'form',
        body: html`<p>Another site sent this form, or your browser does not say which page did. Nothing was changed. If this is your own dashboard behind a proxy, its operator must set <code>DASHBOARD_URL</code>.</p>`,
      })
    }
    if (uploadPaths.includes(c.req.path)) {
      c.set('form', new URLSearchParams())
      return next()
    }
    const form = await readForm(c.req.raw)
    if (typeof form === 'number') {
      c.header('Connection', 'close')
      return showPage(c, {
        title: form === 413 ? 'Form too long' : 'Not a form',
        status: form,
        width: 'form',
        body:
          form === 413
            ? html`<p>A form can have up to ${count(FORM_BYTES_MAX)} bytes, and this one has more. Nothing was changed.</p>`
            : html`<p>This address accepts only forms from its own pages. Nothing was changed.</p>`,
      })
    }
    c.set('form', form)
    return next()
  })
}

async function readForm(request: Request): Promise<URLSearchParams | 413 | 415> {
  const type = request.headers.get('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded(;|$)/i.test(type)) return 415
  if (Number(request.headers.get('Content-Length') ?? 0) > FORM_BYTES_MAX) return 413
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > FORM_BYTES_MAX) return 413
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

/** The headers in which a browser names the origin of a request. */
interface Origins {
  secFetchSite: string | undefined
  origin: string | undefined
  host: string | undefined
}

/**
 * True if a page of this dashboard sent the request. Scripts of other sites can't forge these
 * headers. Over plain HTTP to another machine, browsers omit `Sec-Fetch-Site`; then `Origin` must
 * name this host or the dashboard's URL.
 */
function isSameOrigin({ secFetchSite, origin, host }: Origins, dashboardUrl: string): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { origin: exact, host: from, protocol } = new URL(origin)
  const known = new URL(dashboardUrl)
  if (exact === known.origin) return true
  return known.protocol === 'http:' && protocol === 'http:' && from === host
}
