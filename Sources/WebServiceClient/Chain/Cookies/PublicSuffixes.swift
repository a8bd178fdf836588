public import Foundation

/// The domains under which the public can register names, such as `com`, `co.uk` and `github.io`. A cookie for such a domain would be sent
/// to unrelated sites, so a jar refuses it (RFC 6265bis §5.7).
///
/// Most Linux systems have the list of publicsuffix.org (Debian: the package `publicsuffix`). Where there is none, only domains of one
/// label are public suffixes; a program can bring the list along:
///
///     let jar = CookieJar(publicSuffixes: PublicSuffixes(list: try Data(contentsOf: file)))
public struct PublicSuffixes: Sendable {
    private enum Source: Sendable {
        case system
        case rules(Rules)
    }

    /// The rules of a list. Names are in ASCII.
    private struct Rules: Sendable {
        var names: Set<String> = []
        /// The parents of wildcards: `ck` for `*.ck`.
        var wildcards: Set<String> = []
        var exceptions: Set<String> = []
    }

    private let source: Source

    /// The system's list, read when a cookie first names a domain. Without a list, domains of one label.
    public static let system = PublicSuffixes(source: .system)

    /// The domains of one label, such as `com`.
    public static let singleLabels = PublicSuffixes(source: .rules(Rules()))

    /// The files that hold the system's list on Debian, Fedora, Alpine, FreeBSD and with Homebrew.
    private static let files = [
        "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/local/share/public_suffix_list/public_suffix_list.dat", "/usr/local/share/publicsuffix/public_suffix_list.dat",
        "/opt/homebrew/share/publicsuffix/public_suffix_list.dat",
    ]

    private static let systemRules: Rules = {
        for file in files {
            guard let data = FileManager.default.contents(atPath: file), !data.isEmpty else { continue }
            return rules(of: data)
        }
        return Rules()
    }()

    private init(source: Source) {
        self.source = source
    }

    /// Reads a list in the format of publicsuffix.org: a rule per line up to the first blank, `*.` before a wildcard, `!` before an
    /// exception, `//` before a comment. Rules of both sections count.
    public init(list: Data) {
        source = .rules(Self.rules(of: list))
    }

    /// Whether a domain, in lower case and without a leading dot, is a public suffix. If no rule names it, a domain of one label is.
    public func contains(_ domain: String) -> Bool {
        let rules =
            switch source {
            case .system: Self.systemRules
            case .rules(let rules): rules
            }
        let domain = Self.ascii(domain)
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        if rules.exceptions.contains(domain) { return false }
        // A wildcard's parent counts too, as with libpsl: everybody can register names below it.
        return rules.names.contains(domain) || rules.wildcards.contains(domain)
            || rules.wildcards.contains(String(domain[domain.utf8.index(after: dot)...]))
    }

    private static func rules(of list: Data) -> Rules {
        var rules = Rules()
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let bytes = line.prefix { $0 > 0x20 }
            guard let first = bytes.first, !bytes.starts(with: Array("//".utf8)) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            if first == UInt8(ascii: "!") {
                rules.exceptions.insert(ascii(String(text.dropFirst())))
            } else if text.utf8.starts(with: "*.".utf8) {
                rules.wildcards.insert(ascii(String(text.dropFirst(2))))
            } else {
                rules.names.insert(ascii(text))
            }
        }
        return rules
    }
}

// Internationalized names.
extension PublicSuffixes {
    /// Returns a domain with each label that isn't ASCII in its form for the DNS, such as `xn--bcher-kva` (RFC 5891 §4.4). Labels must be
    /// in lower case and in NFC, as in the list and in parsed URLs.
    static func ascii(_ domain: String) -> String {
        guard !domain.utf8.allSatisfy({ $0 < 0x80 }) else { return domain }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false).map { label in
            if label.utf8.allSatisfy({ $0 < 0x80 }) { return String(label) }
            return punycode(label.unicodeScalars.map(\.value)).map { "xn--" + $0 } ?? String(label)
        }
        return labels.joined(separator: ".")
    }

    /// Encodes a label by RFC 3492 §6.3; `nil` if it is too long for a domain.
    private static func punycode(_ label: [UInt32]) -> String? {
        guard label.count <= 63 else { return nil }
        var output = label.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basic = UInt32(output.count)
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (UInt32(128), UInt32(0), UInt32(72), basic)
        while handled < label.count {
            let smallest = label.filter { $0 >= next }.min() ?? .max
            // At most 63 scalars below 0x110000 can't exceed 32 bits.
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in label {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number with digits of variable weight (RFC 3492 §3.3).
    private static func append(_ number: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
        func digit(_ value: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value < 26 ? value + 97 : value + 22) }
        var rest = number
        var base: UInt32 = 36
        while true {
            let threshold = base <= bias ? 1 : min(base - bias, 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            base += 36
        }
        output.append(digit(rest))
    }

    /// Adapts the bias to the last number (RFC 3492 §6.1).
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var base: UInt32 = 0
        while rest > 455 {
            rest /= 35
            base += 36
        }
        return base + 36 * rest / (rest + 38)
    }
}
