import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite struct PublicSuffixesTests {
    @Test(arguments: [
        ("com", true), ("example.com", false), ("co.uk", true), ("uk", true), ("example.co.uk", false), ("b.ck", true), ("a.b.ck", false),
        ("www.ck", false), ("ck", true), ("github.io", true), ("io", true), ("me.github.io", false), ("unknown", true),
        ("a.unknown", false), ("wild.test", true), ("a.wild.test", true), ("b.a.wild.test", false),
        ("localhost", true), ("xn--55qx5d.cn", true), ("公司.cn", true), ("a.公司.cn", false), ("", true),
    ]) func `the rules of a list hold`(domain: String, isSuffix: Bool) {
        #expect(CookieExchange.suffixes.contains(domain) == isSuffix)
    }

    @Test func `without a list, single labels are public suffixes`() {
        let suffixes = PublicSuffixes.singleLabels
        #expect(suffixes.contains("com") && suffixes.contains("localhost") && !suffixes.contains("co.uk"))
        #expect(PublicSuffixes(list: Data([0xFF, 0xFE, 10, 33, 10, 42, 46])).contains("com"), "a damaged list does no harm")
        #expect(PublicSuffixes.system.contains("com") && !PublicSuffixes.system.contains("example.com"))
    }

    /// The sample strings of RFC 3492 §7.1 that are domain labels in lower case, and names of the list.
    @Test(
        arguments: [
            ("bücher", "bcher-kva"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("ליהםפשוטלאמדבריםעברית", nil), ("そのスピードで", "d9juau41awczczp"), ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"), ("公司", "55qx5d"),
            ("españa", "espaa-rta"), ("рф", "p1ai"), ("ελ", "qxam"),
        ] as [(String, String?)]) func `labels become ASCII`(label: String, expected: String?)
    {
        let text = PublicSuffixes.ascii(label)
        #expect(text.hasPrefix("xn--") && text.utf8.allSatisfy { $0 < 0x80 })
        if let expected { #expect(text == "xn--" + expected) }
    }

    /// libpsl is the implementation of curl and wget.
    @Test func `libpsl has the same suffixes`() throws {
        guard let library = dlopen("libpsl.so.5", RTLD_NOW) ?? dlopen("libpsl.5.dylib", RTLD_NOW),
            let latest = dlsym(library, "psl_latest"), let isSuffix = dlsym(library, "psl_is_public_suffix")
        else {
            print("skipped: libpsl isn't installed")
            return
        }
        typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
        typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> CInt
        let path = "/usr/share/publicsuffix/public_suffix_list.dat"
        guard let list = FileManager.default.contents(atPath: path), let psl = unsafeBitCast(latest, to: Latest.self)(path) else {
            print("skipped: there is no list at \(path)")
            return
        }
        let ask = unsafeBitCast(isSuffix, to: IsSuffix.self)
        var random = SeededGenerator(seed: 7)
        let rules = String(decoding: list, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("//") }
        var different: [String] = []
        for _ in 0..<3000 {
            guard let rule = rules.randomElement(using: &random) else { break }
            var domain = String(rule).replacing("*", with: "wild").replacing("!", with: "")
            if Bool.random(using: &random) { domain = "a.\(domain)" }
            if domain.first != ".", Bool.random(using: &random), let dot = domain.firstIndex(of: ".") {
                domain = String(domain[domain.index(after: dot)...])
            }
            let ascii = PublicSuffixes.ascii(domain)
            if PublicSuffixes.system.contains(ascii) != (ask(psl, ascii) == 1) { different.append(ascii) }
        }
        #expect(rules.count > 5000 && different.isEmpty, "\(different.prefix(20))")
    }
}
