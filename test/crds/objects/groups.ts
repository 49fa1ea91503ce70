import { accepted, letters, manifest, refused, type Row } from './row.ts';

const named = (name: string, spec: object = {}) => manifest('Group', { ...spec }, name);

/** Groups: their names, and what becomes of them. */
export const groupRows: readonly Row[] = [
  ...accepted('Group', {
    'a group of the name of its object': {},
    'a group with a name of its own': { name: 'Küche & Bad' },
    'a group of the longest name': { name: letters(128) },
    'a group of one letter': { name: 'x' },
    'a group with a description': { description: 'Who cooks\nand who cleans' },
    'a group with the longest description': { description: letters(1024) },
    'a group that is kept': { deletionPolicy: 'Retain', adoption: 'IfUnowned', suspend: true },
    'a group that is deleted': { deletionPolicy: 'Delete', adoption: 'Never', suspend: false },
    'a group that is taken by force': { adoption: 'Force' },
  }),
  {
    title: 'a group whose object has a number for its name, and a name of its own',
    kind: 'Group',
    object: named('42', { name: 'answers' }),
    verdict: 'accepted',
    paths: [],
  },
  {
    title: 'a group that says aloud the name that it had by its object',
    kind: 'Group',
    object: named('staff', { name: 'staff' }),
    old: named('staff'),
    verdict: 'accepted',
    paths: [],
  },
  ...refused('Group', {
    'a group of an empty name': [{ name: '' }, 'name'],
    'a group of a name that is too long': [{ name: letters(129) }, 'name'],
    'a group of only digits, which would be an id': [{ name: '42' }, 'name'],
    'a group of a name with two lines': [{ name: 'a\nb' }, 'name'],
    'a group of a name that ends with a blank': [{ name: 'a ' }, 'name'],
    'a group of a name with an invisible character': [{ name: 'a\u200bb' }, 'name'],
    'a group whose name is a number': [{ name: 42 }, 'name'],
    'a group with an id, which the service assigns': [{ id: 'staff' }, 'id'],
    'a group with members, which are never declared': [{ members: [1] }, 'members'],
    'a group of a description that is too long': [{ description: letters(1025) }, 'description'],
    'a group of a description with a bell': [{ description: 'ring\u0007' }, 'description'],
    'a group whose description is a number': [{ description: 1 }, 'description'],
    'a group that is neither kept nor deleted': [{ deletionPolicy: 'Orphan' }, 'deletionPolicy'],
    'a group whose deletion is a flag': [{ deletionPolicy: true }, 'deletionPolicy'],
    'a group that is adopted always': [{ adoption: 'Always' }, 'adoption'],
    'a group whose adoption is a flag': [{ adoption: true }, 'adoption'],
    'a group that is suspended by a word': [{ suspend: 'yes' }, 'suspend'],
  }),
  {
    title: 'a group whose object has a number for its name',
    kind: 'Group',
    object: named('42'),
    verdict: 'refused',
    paths: ['metadata.name'],
  },
  {
    title: 'a group whose object has a long name',
    kind: 'Group',
    object: named(letters(129)),
    verdict: 'refused',
    paths: ['metadata.name'],
  },
  {
    title: 'a group that takes another name, which a policy may link',
    kind: 'Group',
    object: named('staff', { name: 'admins' }),
    old: named('staff'),
    verdict: 'refused',
    paths: ['spec.name'],
  },
];
