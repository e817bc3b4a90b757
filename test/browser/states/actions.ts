import type { Page } from 'playwright-core'
import type { State } from './list.ts'

/** What a user with a full account does. `members` is the page of an organization's members. */
export function actionsOf(members: string): State[] {
  return [...serverStates(), ...keyStates(), ...formStates(members)]
}

function serverStates(): State[] {
  return [
    {
      path: 'dashboard/servers',
      async act(page) {
        await submit(page, 'text=Unpublish >> nth=1')
        await page.waitForSelector('text=Undo')
      },
    },
    {
      path: 'dashboard/servers?select=1&sort=name',
      async act(page) {
        await submit(page, '[value=deleted]')
        await page.waitForSelector('text=Delete these servers?')
      },
    },
    {
      path: 'dashboard/servers/new',
      async act(page) {
        for (const [id, value] of [
          ['name', 'x'],
          ['address', 'a b'],
          ['slug', 'a b'],
        ] as const)
          await page.fill(`#${id}`, value)
        await submit(page, 'main .primary')
        await page.waitForSelector('.error')
      },
    },
    {
      path: 'dashboard/servers/import',
      async act(page) {
        await page.fill('#text', 'name,address\n,a b\nx,c d')
        await submit(page, 'main .primary')
        await page.waitForSelector('text=Nothing was imported')
      },
    },
  ]
}

function keyStates(): State[] {
  return [
    {
      path: 'dashboard/api',
      async act(page) {
        await page.fill('#name', 'bot')
        await submit(page, 'text=Issue key')
        await page.waitForSelector('#key')
        await openEverything(page)
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await page.fill('#name', '\u3164')
        await submit(page, 'text=Issue key')
        await page.waitForSelector('#name-error')
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await page.click('text=Has a key leaked?')
        await page.fill('#leaked', 'svc_live_none')
        await submit(page, 'text=Delete leaked keys')
        await page.waitForSelector('#leaked-error')
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await submit(page, 'text=Replace… >> nth=0')
        await submit(page, 'main .primary')
        await page.waitForSelector('text=The old key still works')
      },
    },
    {
      path: 'dashboard/api',
      async act(page) {
        await submit(page, '.keys >> text=Delete… >> nth=0')
        await submit(page, 'main .danger')
        await page.waitForSelector('text=was deleted')
      },
    },
  ]
}

function formStates(members: string): State[] {
  return [
    {
      path: members,
      async act(page) {
        await page.fill('#email', 'gus@example.com')
        await submit(page, 'button:text-is("Invite")')
        await page.waitForSelector('.notice.good')
      },
    },
    {
      path: members,
      async act(page) {
        await page.fill('#email', 'carl@example.com')
        await submit(page, 'button:text-is("Invite")')
        await page.waitForSelector('.error')
      },
    },
    {
      path: 'dashboard/organizations',
      async act(page) {
        await page.fill('#name', '\u3164')
        await page.fill('#slug', 'A B')
        await submit(page, 'main .card .primary')
        await page.waitForSelector('.error')
      },
    },
    {
      path: 'dashboard/account',
      async act(page) {
        await page.fill('#email', 'new@example.com')
        await page.fill('#email-password', 'not this one')
        await submit(page, 'text=Change email')
        await page.waitForSelector('.error')
      },
    },
  ]
}

/** What a session that is no longer fresh asks for. */
export const LATER: State[] = [
  {
    path: 'dashboard/api',
    async act(page) {
      await page.fill('#name', 'bot')
      await page.fill('#password', 'not this one')
      await submit(page, 'text=Issue key')
      await page.waitForSelector('#password-error')
    },
  },
  {
    path: 'dashboard/api',
    async act(page) {
      await submit(page, 'text=Replace… >> nth=0')
      await page.waitForSelector('#password')
    },
  },
]

/** Clicks what leads to another page, and waits for that page. */
export async function submit(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.click(selector)])
}

/** Opens the account menu and whatever else is closed. */
export async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`for (const one of document.querySelectorAll('details'))
    if (!one.name) one.open = true`)
}
