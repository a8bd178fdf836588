import Foundation
import OData
import WebServiceClient

/// The entry that libFuzzer calls with each input: the first byte chooses the parser, the rest is what it reads.
///
/// A parser holds when it ends without a trap and its own rule is true: what it printed is read back as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 1 else { return 0 }
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let data = Data(bytes.dropFirst())
    let text = String(decoding: data, as: UTF8.self)
    let targets = ParserTarget.allCases
    targets[Int(bytes[0]) % targets.count].run(text, data)
    return 0
}

/// libFuzzer's own main function, under the name that the package manager gives to an executable's.
@_cdecl("Fuzzer_main")
public func run(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, fuzz)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
