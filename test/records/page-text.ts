import { unescaped } from '../dashboard/forms/read-forms.ts'
import type { Answer } from '../fixtures/requests.ts'

/*
 * What a person reads on a page.
 */

/** The title of a page. */
export function titleOf(body: string): string {
  return unescaped(/<title>(.*?)<\/title>/s.exec(body)?.[1] ?? '').replace(' · Server listing', '')
}

/** The lines of a page's notices and errors. */
export function messagesOf(body: string): string[] {
  const found = body.matchAll(/<div class="notice.*?<\/div>.*?<\/div>|<p class="error".*?<\/p>/gs)
  return [...found].flatMap(([part]) => linesOf(part))
}

/** The lines of a page's headings. */
export function headingsOf(body: string): string[] {
  return [...body.matchAll(/<h[1-3].*?<\/h[1-3]>/gs)].flatMap(([part]) => linesOf(part))
}

/** The lines of a page without its frame. The cells of a row share a line. */
export function contentOf(body: string): string[] {
  return linesOf(/<main[^>]*>(.*)<\/main>/s.exec(body)?.[1] ?? '')
}

/** An answer in one line: its status, and what a refusal says or where it asks to sign in. */
export function saying({ status, headers, body }: Answer): string {
  const location = String(headers.location)
  if (location.startsWith('/sign-in?')) return `${status} ${location}`
  if (status < 400) return String(status)
  const messages = messagesOf(body)
  return `${status} ${(messages.length > 0 ? messages : contentOf(body)).join(' | ')}`
}

function linesOf(html: string): string[] {
  const text = html
    .replaceAll(/<(svg|pre|datalist)\b.*?<\/\1>/gs, ' ')
    .replaceAll(/<time datetime="([^"]*)"[^>]*>(.*?)<\/time>/gs, timeOf)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<t[dh]\b[^>]*>\s*/g, ' | ')
    .replaceAll(
      /<\/?(?:p|h\d|li|tr|div|label|button|option|dt|dd|summary|form|figcaption)\b[^>]*>/g,
      '\n',
    )
    .replaceAll(/<[^>]*>/g, '')
  const lines = unescaped(text).split('\n')
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

/** The instant, or the words of an old one, which stay the same. */
function timeOf(_: string, instant: string, words: string): string {
  return /^[A-Z]/.test(words) ? words : instant
}
