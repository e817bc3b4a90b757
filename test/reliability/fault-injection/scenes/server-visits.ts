import { IMPORTED, type Scene, SERVER } from './dashboard-scene.ts'
import { posting, type Visit } from './visit.ts'

/** Visits that change servers. */
export function serverVisits({ server, organization, deletion, waiting }: Scene): Visit[] {
  const fields = Object.fromEntries(
    Object.entries(SERVER).map(([name, value]) => [name, value ?? '']),
  )
  const edited = { ...fields, name: 'Renamed', slug: 'renamed', form: 'f' }
  const moved = { ...fields, slug: 'moved', organization_id: organization, form: 'f' }
  const path = `/dashboard/servers/${server}`
  return [
    posting('/dashboard/servers/new', 303, { ...fields, slug: 'new', form: 'f' }),
    posting('/dashboard/servers/:id', 303, edited, path),
    { ...posting('/dashboard/servers/:id', 303, moved, path), name: 'moving a server' },
    posting('/dashboard/servers/change', 303, { draft: '0', rows: server, form: 'f' }),
    {
      ...posting('/dashboard/servers/change', 303, {
        to: 'deleted for sure',
        rows: server,
        form: 'f',
      }),
      name: 'deleting a server',
    },
    posting('/dashboard/servers/undo', 303, { change: deletion }),
    {
      name: 'POST /dashboard/servers/import',
      route: 'post /dashboard/servers/import',
      status: 303,
      visit: (person) =>
        person.upload('/dashboard/servers/import', {
          text: JSON.stringify(IMPORTED),
          form: 'f',
        }),
    },
    posting(
      '/dashboard/servers/import/:id',
      303,
      { plan: waiting.fingerprint },
      `/dashboard/servers/import/${waiting.id}`,
    ),
  ]
}
