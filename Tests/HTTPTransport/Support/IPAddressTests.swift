import Testing

@testable import HTTPTransport

@Suite struct IPAddressTests {
    /// RFC 5952 §4 defines the canonical form, RFC 4291 §2.2 the accepted forms.
    @Test(arguments: [
        ("0:0:0:0:0:0:0:1", "::1"), ("::1", "::1"), ("2001:DB8::A", "2001:db8::a"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("::", "::"),
    ])
    func `An address of version 6 has one form`(text: String, form: String) {
        #expect(IPAddress.version6(text) == form && IPAddress.isVersion6(text) && !IPAddress.isVersion4(text))
    }

    @Test(arguments: ["", "1", "::g", "[::1]", "fe80::1%lo", "1.2.3", "1.2.3.256", "a.b.c.d", "1.2.3.4.5", "::1::", "12345::"])
    func `What is no address is none`(text: String) {
        #expect(!IPAddress.isVersion6(text) && !IPAddress.isVersion4(text))
    }

    @Test(arguments: [
        ("::ffff:127.0.0.1", "::ffff:7f00:1"), ("::ffff:127.0.0.1", "0:0:0:0:0:FFFF:7F00:0001"), ("127.0.0.1", "::ffff:7f00:1"),
        ("127.0.0.1", "127.1"), ("127.0.0.1", "2130706433"), ("127.0.0.1", "0x7f.0.0.1"), ("::1", "0:0:0:0:0:0:0:1"), ("::1", "::0.0.0.1"),
        ("2001:db8::a", "2001:DB8:0::000A"), ("1.2.3.4", "::ffff:102:304"), ("127.0.0.0/8", "::ffff:127.9.9.9"),
        ("::ffff:127.0.0.0/104", "127.1.2.3"),
        ("::ffff:127.0.0.1/128", "127.0.0.1"), ("10.0.0.0/9", "::ffff:a7f:1"), ("fd00::/8", "fdff::1"), ("::/0", "10.0.0.1"),
        ("::ffff:0:0/96", "8.8.8.8"),
    ])
    func `An address is the same however it is spelled`(network: String, address: String) throws {
        let network = try #require(IPAddress.Network(network))
        #expect(network.contains(try #require(IPAddress.bytes(address))))
        #expect(!network.contains(try #require(IPAddress.bytes("fe80::1"))) || network == IPAddress.Network("::/0"))
    }

    @Test(arguments: [
        ("127.0.0.1", "::1"), ("127.0.0.1", "127.0.0.2"), ("10.0.0.0/9", "10.128.0.1"), ("fd00::/8", "fe00::1"), ("::1", "0.0.0.1"),
    ])
    func `Other addresses are others`(network: String, address: String) throws {
        #expect(try !#require(IPAddress.Network(network)).contains(#require(IPAddress.bytes(address))))
    }

    @Test(arguments: [
        "", "localhost", "1.2.3.4.5", "10.0.0.0/33", "::1/129", "10.0.0.0/x", "10.0.0.0/-1", "::g", "fe80::1%lo", "a.b", "dead.beef",
    ])
    func `What is no network is none`(text: String) {
        #expect(IPAddress.Network(text) == nil)
    }

    @Test func `An address of version 4 has four numbers`() {
        #expect(IPAddress.isVersion4("192.0.2.1") && !IPAddress.isVersion6("192.0.2.1"))
    }
}
