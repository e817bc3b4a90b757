/*
 * Optional: every page works without this file.
 */

// Screen readers read out what changes in here.
const voice = document.createElement('p')
voice.className = 'unseen'
voice.role = 'status'
document.querySelector('main').append(voice)

for (const button of document.querySelectorAll('[data-copy]')) {
  const source = document.getElementById(button.dataset.copy)
  const label = button.querySelector('span')
  const name = label.textContent
  // The name of the button stays, so that a screen reader says once what happened.
  button.ariaLabel = button.textContent
  button.hidden = false
  const say = (text) => {
    label.textContent = voice.textContent = text
    setTimeout(() => {
      label.textContent = name
      voice.textContent = ''
    }, 3000)
  }
  button.addEventListener('click', () => {
    void copy(source).then((copied) => say(copied ? 'Copied' : 'Selected: press Ctrl+C'))
  })
}

/** Over plain HTTP a page has no clipboard. Then this selects the text for the user to copy. */
async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(source)
    return false
  }
}

// Removes the key when the user leaves the page, so that going back does not show it again.
const secret = document.querySelector('[data-secret]')
if (secret !== null) {
  history.replaceState(null, '', location.pathname)
  addEventListener('pagehide', () => secret.replaceChildren('This was shown once.'))
}

// Exact times in the reader's time zone. The server writes UTC.
for (const time of document.querySelectorAll('time')) {
  const text = new Date(time.dateTime).toLocaleString([], {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  if (time.title) time.title = text
  else if (time.textContent.endsWith('UTC')) time.textContent = text
}

for (const input of document.querySelectorAll('[data-length-max]')) {
  const counter = document.createElement('p')
  counter.className = 'hint'
  input.after(counter)
  const max = Number(input.dataset.lengthMax)
  const count = () => {
    const length = [...input.value.trim()].length
    counter.textContent = `${length} of ${max} characters`
    counter.classList.toggle('error', length > max)
    voice.textContent = length > max ? `At most ${max} characters` : ''
  }
  input.addEventListener('input', count)
  count()
}

for (const input of document.querySelectorAll('[data-suggested-from]')) {
  const source = document.getElementById(input.dataset.suggestedFrom)
  const isRequired = input.required
  let suggested = ''
  source.addEventListener('input', () => {
    const isOurs = input.value === suggested
    suggested = slugOf(source.value, isRequired)
    // A required field gets the suggestion as its value, an optional one only as its placeholder.
    if (!isRequired) input.placeholder = suggested
    else if (isOurs) input.value = suggested
  })
}

function slugOf(name, isAscii) {
  const letters = name.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
  const other = isAscii ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu
  return letters
    .replace(other, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

// A click beside the account menu, or Escape, closes it.
const menu = document.querySelector('.menu')
if (menu !== null) {
  addEventListener('click', (event) => {
    if (!menu.contains(event.target)) menu.open = false
  })
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') menu.open = false
  })
}

// The bar of a list says how many servers are selected. Without script, its button and the one that
// selects a page load the page again.
const list = document.querySelector('.list')
if (list !== null) {
  const all = list.elements.all ?? {}
  const show = () => {
    const count = all.checked ? all.value : list.querySelectorAll('td :checked').length
    const text = `${count} selected`
    list.querySelector('.bar b').textContent = text
    return text
  }
  list.addEventListener('click', (event) => {
    const { target } = event
    const isButton = target.name === 'select' || target.name === 'page'
    if (isButton) event.preventDefault()
    else if (target.type !== 'checkbox') return
    if (isButton || target === all)
      for (const row of list.querySelectorAll('td input'))
        row.checked = isButton ? target.name === 'select' : all.checked
    if (target !== all) all.checked = false
    voice.textContent = show()
  })
  // The browser may have checked boxes again.
  addEventListener('pageshow', show)
}

// Ignores a second click on a button while its form is being sent. The value of the first button is
// still sent.
for (const form of document.querySelectorAll('form[method="post"]'))
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent !== undefined) event.preventDefault()
    form.dataset.sent = ''
  })
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})
