// swift-tools-version: 6.1

import PackageDescription

// Fuzz targets for every parser, on libFuzzer. A package of its own, since it is built with flags that a dependency can't have: `run` beside
// this file builds and runs it.
let package = Package(
    name: "fuzzing",
    dependencies: [.package(name: "web-service-client", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"), .product(name: "OData", package: "web-service-client"),
                .product(name: "RemoteLogger", package: "web-service-client"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
    ]
)
