import Foundation
import OData
import WebServiceClient

/// The only parser to run, named by the environment variable `FUZZER_TARGET`.
private let only = ProcessInfo.processInfo.environment["FUZZER_TARGET"].map { ParserTarget(rawValue: $0) }

/// The entry point that libFuzzer calls with each input: the first byte chooses the parser, which reads the rest. If the environment names
/// a parser, it reads the whole input.
///
/// A parser passes if it doesn't trap and its rule holds: printed values are read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 1 else { return 0 }
    let bytes = UnsafeBufferPointer(start: start, count: count)
    if let only {
        guard let only else { fatalError("FUZZER_TARGET names none of \(ParserTarget.allCases.map(\.rawValue))") }
        only.run(String(decoding: bytes, as: UTF8.self), Data(bytes))
        return 0
    }
    let data = Data(bytes.dropFirst())
    let text = String(decoding: data, as: UTF8.self)
    let targets = ParserTarget.allCases
    targets[Int(bytes[0]) % targets.count].run(text, data)
    return 0
}

/// Starts libFuzzer, under the name that the package manager gives to an executable's main function.
@_cdecl("Fuzzer_main")
public func run(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    if CommandLine.arguments.dropFirst().first == "--targets" {
        for target in ParserTarget.allCases { print(target.rawValue) }
        return 0
    }
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, fuzz)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
