/// A place in the source code.
public struct LogSource: Sendable, Hashable {
    /// The file as `#fileID` tells it: module and file name.
    public let file: String
    /// The function.
    public let function: String
    /// The line, from 1.
    public let line: UInt

    /// A place.
    public init(file: String, function: String, line: UInt) {
        self.file = file
        self.function = function
        self.line = line
    }
}
