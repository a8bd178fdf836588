import Testing

@testable import WebServiceClient

@Suite struct PackageVersionTests {
    @Test func `it is a version by Semantic Versioning that fits into User-Agent`() {
        #expect(PackageVersion.text.wholeMatch(of: /(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?/) != nil)
        #expect(ClientState.userAgent == "WebServiceClient-Swift/" + PackageVersion.text)
    }
}
