/*
 * Asks whether a key was used, every few seconds while the page is visible, for ten minutes.
 */

const POLL_MS = 3000
const POLLS_MAX = 200

const arrival = document.querySelector('[data-poll]')
if (arrival !== null) void poll(POLLS_MAX)

async function poll(left) {
  await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  if (left === 0) return
  if (document.hidden) return poll(left)
  const answer = await fetch(arrival.dataset.poll).catch(() => null)
  const text = answer?.ok ? await answer.text().catch(() => '') : ''
  const found = new DOMParser().parseFromString(text, 'text/html').getElementById(arrival.id)
  if (found === null || found.dataset.poll !== undefined) return poll(left - 1)
  arrival.replaceChildren(...found.childNodes)
}
