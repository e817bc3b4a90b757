import type { RequestListener } from 'node:http'

/** The error of the client for each path of the server below. */
export const EXPECTED = {
  cut: 'ConnectionError',
  redirect: 'RedirectError',
  html: 'InvalidAnswerError',
  large: 'InvalidAnswerError',
  '401': 'UnauthorizedError',
  '502': 'ServiceError',
  silent: 'RequestTimeoutError',
  slow: 'RequestTimeoutError',
  aborted: 'TimeoutError',
}

/** Answers what the real service never does, by the first part of the path. */
export const answerOddly: RequestListener = (request, response) => {
  const kind = request.url!.split('/')[1]!
  if (kind === 'cut') {
    response.writeHead(200, { 'Content-Length': 1_000 })
    response.write('{"servers":[', () => response.destroy())
  } else if (kind === 'redirect') response.writeHead(302, { Location: '/html' }).end()
  else if (kind === 'html') response.end('<!doctype html>')
  else if (kind === 'large') response.end(' '.repeat(5 * 2 ** 20))
  else if (kind === 'slow') response.write('{"servers":[')
  else if (/^\d+$/.test(kind)) response.writeHead(Number(kind)).end()
}
