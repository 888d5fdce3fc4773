-- Find a checkpoint with everything that belongs to it.
-- KEYS: rows, blobs, writes
-- ARGV: prefix of the namespace, id or '' for the newest (ids sort by time)
-- Returns nil, or {name of the row, row, {blob or nil, in the row's order}, {name, write, ...}}.
local prefix, wanted = ARGV[1], ARGV[1] .. ARGV[2]
local function starts(text, with) return string.sub(text, 1, #with) == with end

if ARGV[2] == '' then
  for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
    if starts(name, prefix) and name > wanted then wanted = name end
  end
end
local row = redis.call('HGET', KEYS[1], wanted)
if not row then return nil end

local blobs, writes = {}, {}
for name in string.gmatch(string.match(row, '^%Z*'), '[^\n]+') do
  blobs[#blobs + 1] = redis.call('HGET', KEYS[2], name)
end
for _, name in ipairs(redis.call('HKEYS', KEYS[3])) do
  if starts(name, wanted .. '\31') then
    writes[#writes + 1] = name
    writes[#writes + 1] = redis.call('HGET', KEYS[3], name)
  end
end
return {wanted, row, blobs, writes}
