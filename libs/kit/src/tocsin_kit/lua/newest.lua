-- Keep the newest of a thing that is told about in no order.
-- KEYS: a hash
-- ARGV: 1 field, 2 number that grows, 3 body, 4 time to live ms
-- Returns whether it was kept (1 or 0), and what it replaced ('' if it is the first)
local held = redis.call('HGET', KEYS[1], ARGV[1])
if held then
  local number = tonumber(string.match(held, '^(%d+)\n'))
  if number and number >= tonumber(ARGV[2]) then return {0, held} end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '\n' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {1, held or ''}
