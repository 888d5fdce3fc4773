-- End an approval that nobody may decide any more.
-- KEYS: approval
-- ARGV: 1 new state, 2 now ms, 3 'due' to close only past the expiry, 'now' to close at once
-- Returns the state it is in now ('' for an unknown approval, 'pending' for one not yet due)
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return '' end
if state ~= 'pending' then return state end
if ARGV[3] == 'due' and tonumber(redis.call('HGET', KEYS[1], 'expires')) > tonumber(ARGV[2]) then
  return 'pending'
end
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'decided_at', ARGV[2])
return ARGV[1]
