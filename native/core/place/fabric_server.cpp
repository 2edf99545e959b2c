// SPDX-License-Identifier: BSD-3-Clause
#include "place/fabric_server.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace isochrone::core::place {

FabricServer parse_fabric_server(std::string_view text) {
    const auto wrong = [&] {
        return std::invalid_argument("'" + std::string(text.substr(0, 60)) +
                                     "' is no address of a fabric server: write HOST:PORT, hops@HOST:PORT, "
                                     "speed@HOST:PORT or time@HOST:PORT");
    };
    FabricServer server;
    std::string_view rest = text;
    if (const auto end = rest.find('@'); end != std::string_view::npos) {
        const auto& names = delay_names;
        const auto found = std::find(std::begin(names), std::end(names), rest.substr(0, end));
        if (found == std::end(names)) throw wrong();
        server.by = static_cast<DelayBy>(found - std::begin(names));
        rest.remove_prefix(end + 1);
    }
    const auto colon = rest.rfind(':');
    if (colon == std::string_view::npos) throw wrong();
    std::string_view host = rest.substr(0, colon);
    const std::string_view port = rest.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        throw wrong();
    }
    constexpr int most = 65535;
    int number = 0;
    const auto [last, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (host.empty() || error != std::errc() || last != port.data() + port.size() || number < 1 ||
        number > most)
        throw wrong();
    server.host = host;
    server.port = port;
    return server;
}

}  // namespace isochrone::core::place
