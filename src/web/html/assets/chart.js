/*
 * Shows the values of one bar of a chart: below the pointer, or chosen with the arrow keys. Reads
 * them from the list of the key's own page, once the user asks for one.
 */

for (const chart of document.querySelectorAll('[data-from]')) {
  const said = chart.parentElement.querySelector('.said')
  // Within 24 hours the time of day suffices.
  if (chart.dataset.minutes < 60)
    for (const time of said.querySelectorAll('time')) time.textContent = clockOf(time.dateTime)
  const summary = [...said.childNodes]
  const link = said.querySelector('a')
  const drawing = chart.querySelector('svg')
  const bars = drawing.viewBox.baseVal.width
  // A range is one stop for the Tab key, and each screen reader can read its value.
  const range = Object.assign(document.createElement('input'), {
    type: 'range',
    max: bars - 1,
    value: bars - 1,
    ariaLabel: drawing.ariaLabel,
  })
  const mark = document.createElementNS(drawing.namespaceURI, 'path')
  mark.classList.add('mark')
  drawing.append(mark)
  drawing.ariaHidden = true
  drawing.before(range)

  let values = null
  let pointed = null
  let isShown = false
  const show = async () => {
    isShown = true
    values ??= readValues(link)
    const list = await values
    if (list === null) values = null
    if (!isShown) return
    const index = Number(range.value)
    range.ariaValueText = said.textContent = wordsOf(chart.dataset, index, list)
    mark.setAttribute('d', `M${index + 0.5} 0V99`)
  }
  const hide = () => {
    isShown = false
    said.replaceChildren(...summary)
    mark.removeAttribute('d')
  }
  const point = ({ offsetX }) => {
    const index = Math.floor((offsetX / range.offsetWidth) * bars)
    pointed = Math.max(0, Math.min(bars - 1, index))
    range.value = pointed
    void show()
  }
  range.addEventListener('pointermove', point)
  range.addEventListener('pointerdown', point)
  range.addEventListener('pointerleave', () => {
    pointed = null
    if (!range.matches(':focus-visible')) hide()
  })
  range.addEventListener('input', () => {
    // The browser reckons with the width of a thumb.
    if (pointed !== null) range.value = pointed
    void show()
  })
  range.addEventListener('focus', () => {
    if (range.matches(':focus-visible')) void show()
  })
  range.addEventListener('blur', hide)
  range.addEventListener('keydown', ({ key }) => {
    pointed = null
    if (key === 'Escape') hide()
  })
}

/** The values by the beginning of their bar. Null if their page can't be read right now. */
async function readValues(link) {
  let page = document
  if (link !== null) {
    const answer = await fetch(link.href).catch(() => null)
    if (!answer?.ok) return null
    page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  }
  const kinds = [...page.querySelectorAll('.values thead th + th')].map((head) => head.textContent)
  return new Map(
    [...page.querySelectorAll('.values tbody tr')].map((row) => [
      Date.parse(row.querySelector('time').dateTime),
      [...row.querySelectorAll('td')].flatMap((cell, kind) =>
        cell.textContent === '0' ? [] : `${cell.textContent} ${kinds[kind].toLowerCase()}`,
      ),
    ]),
  )
}

function wordsOf({ from, minutes }, index, values) {
  const length = minutes * 60_000
  const begin = from * 60_000 + index * length
  const words =
    values === null
      ? 'the values are not available right now'
      : (values.get(begin)?.join(', ') ?? 'no requests')
  if (minutes < 60) return `${clockOf(begin)}: ${words}`
  return `${dateOf(begin)}${minutes > 60 ? ` – ${dateOf(begin + length)}` : ''}: ${words}`
}

function clockOf(instant) {
  return new Date(instant).toLocaleTimeString([], { timeStyle: 'short' })
}

function dateOf(instant) {
  return new Date(instant).toLocaleString([], {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  })
}
