import Testing

@testable import WebServiceClient

@Suite struct IPAddressTests {
    /// RFC 5952 §4 has the form, and RFC 4291 §2.2 what may be written.
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

    @Test func `An address of version 4 has four numbers`() {
        #expect(IPAddress.isVersion4("192.0.2.1") && !IPAddress.isVersion6("192.0.2.1"))
    }
}
