import Foundation

@testable import WebServiceTesting

/// The types of this package's modules that conform to a protocol, from the symbols of the test process: a type whose author forgot a list
/// is found, too.
enum ConformanceSymbols {
    private static let modules = ["WebServiceClient", "HTTPTransport", "OData", "RemoteLogger", "WebServiceTesting"]

    /// Returns the names of the types, such as `WebServiceClient.RateLimit`; none if the process has no symbols.
    static func types(conformingTo name: String) -> Set<String> {
        var found: Set<String> = []
        let prefixes = modules.map { "$s\($0.utf8.count)\($0)" }
        for loaded in LoadedFile.all().files {
            loaded.file.forEachSymbol(beginningWith: prefixes) { symbol, _ in
                // A protocol conformance descriptor.
                guard symbol.name.hasSuffix("Mc"), let text = Demangler.text(of: symbol.name) else { return }
                let parts = text.split(separator: " : ")
                guard parts.count == 2, parts[1].hasPrefix("WebServiceClient.\(name) in ") else { return }
                found.insert(String(parts[0].split(separator: " ").last ?? ""))
            }
        }
        return found
    }
}
