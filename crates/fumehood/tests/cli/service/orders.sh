# An MCP server of two tools, for whoever has a shell.
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"notifications/'*) ;;
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"orders","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"get_order","description":"Reads an order.","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"user_id":{"type":"string"}},"required":["id","user_id"]}},{"name":"cancel","description":"Cancels an order.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}]}' ;;
    *'"tools/call"'*)
      user=${line#*\"user_id\":\"}; user=${user%%\"*}
      result="{\"content\":[{\"type\":\"text\",\"text\":\"order of $user\"}]}" ;;
    *) result= ;;
  esac
  case $line in
    *'"notifications/'*) ;;
    *'"id":'*) if [ -n "$result" ]; then printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"; else printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"; fi ;;
  esac
done
